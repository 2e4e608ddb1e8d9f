;;;; calls.lisp -- what the functions of the project call and expand

(cl:in-package #:swank-mcp)

(defun called-names (function)
  "The names of the global functions that the code of FUNCTION refers to."
  #+sbcl
  (let ((code (sbcl:fun-code-header (sbcl:%fun-fun function))))
    (or (loop for i from sbcl:code-constants-offset below (sbcl:code-header-words code)
              for constant = (sbcl:code-header-ref code i)
              when (typep constant 'sbcl:fdefn) collect (sbcl:fdefn-name constant))
        ;; newer SBCLs have cells of a linkage table instead
        (loop for callee in (sb-introspect:find-function-callees function)
              for name = (and callee (sbcl:%fun-name callee))
              when name
                collect (if (and (consp name) (eq (first name) :macro)) (second name) name))))
  #-sbcl (progn function '()))

(defun expanded-names (function)
  "The names of which SBCL has noted that the code of FUNCTION uses them, macros among them."
  #+sbcl
  (let ((references (sbcl:%simple-fun-xrefs (sbcl:%fun-fun function))))
    (and (simple-vector-p references)
         (loop for name across references when (and name (symbolp name)) collect name)))
  #-sbcl (progn function '()))

(defun names-to-keys (names-of wanted comparison)
  "A table from each name in the table WANTED to the keys of the functions for which NAMES-OF
returns it."
  (let ((found (make-hash-table :test 'equal)))
    (when (plusp (hash-table-count wanted))
      (loop for (key . function) in (comparison-functions comparison)
            do (dolist (name (ignore-errors (funcall names-of function)))
                 (when (gethash name wanted)
                   (pushnew key (gethash name found) :test #'equal)))))
    found))

(defun state-of (key comparison)
  (let ((verdict (gethash key (comparison-states comparison))))
    (and verdict (verdict-state verdict))))

;;; Macros whose users have an older expansion

(defun loaded-number (origin)
  "The number of the load from which the definition of ORIGIN came."
  (let ((loaded (loaded-file (origin-file origin))))
    (if loaded (loaded-file-number loaded) 0)))

(defun expanding-operator-p (form)
  "True if what FORM defines is in the code of those who use it."
  (member (source-form-operator form)
          '("DEFMACRO" "DEFINE-MODIFY-MACRO" "DEFINE-COMPILER-MACRO" "DEFCONSTANT" "DEFINE-SYMBOL-MACRO"
            "DEFTYPE" "DEFSTRUCT" "DEFSETF" "DEFINE-SETF-EXPANDER")
          :test #'equal))

(defun changed-macros (comparison)
  "A table from names of macros and the like to the number of the load since which they have their
text; :LIVE if an evaluation has given them another one than their file had."
  (let ((table (make-hash-table :test 'equal)))
    (with-shared-table (*origins*)
      (loop for key being the hash-keys of *origins* using (hash-value origin)
            for verdict = (gethash key (comparison-states comparison))
            for name = (cdr key)
            when (and verdict (symbolp name) (expanding-operator-p (origin-form origin)))
              do (case (verdict-state verdict)
                   ((:live :live-same)
                    (unless (or (live-as-loaded-p verdict origin) (value-kept-p origin))
                      (setf (gethash name table) :live)))
                   (t (when (> (origin-since origin) 1)
                        (setf (gethash name table) (origin-since origin)))))))
    table))

(defun live-as-loaded-p (verdict origin)
  "True if the text that was evaluated is the one that was loaded."
  (let* ((text (verdict-text verdict)) (form (and text (live-form text (verdict-key verdict)))))
    (and form (eql (source-form-code form) (origin-code origin)))))

(defun evaluation-order (kind name)
  "The order in which a session has defined NAME as a KIND, or NIL."
  (with-lock ()
    (loop for session being the hash-values of *sessions*
          for entry = (gethash (cons kind name) (session-definitions session))
          when entry return (entry-order entry))))

(defun evaluated-before-p (function macro)
  "True if the FUNCTION was evaluated before the MACRO, in one session."
  (let ((first (evaluation-order :function function)) (then (evaluation-order :macro macro)))
    (and first then (< first then))))

(defun macro-names (comparison)
  "A table of the names of the project's macros."
  (let ((names (make-hash-table :test 'equal)))
    (loop for (kind . name) being the hash-keys of (comparison-states comparison)
          when (and (eq kind :function) (symbolp name) (macro-function name))
            do (setf (gethash name names) t))
    names))

(defun older-user-p (key name since comparison)
  "True if the function KEY, which a file has as it is, was compiled before NAME had its text, SINCE
the load of that number or :LIVE."
  (let ((verdict (gethash key (comparison-states comparison))) (origin (gethash key *origins*)))
    (and verdict
         (case (verdict-state verdict)
           ((:live :alone) nil)         ; has its own line
           (:live-same (and (eq since :live) (evaluated-before-p (cdr key) name)))
           (t (and origin
                   (or (eq since :live) (< (loaded-number origin) since))))))))

(defun stale-users (comparison)
  "((NAME KEY ...) ...): macros and those functions that were compiled with an older definition of
them, or before there was one: these call them as functions."
  (let ((changed (changed-macros comparison)) (stale (make-hash-table :test 'eq)))
    (flet ((note (users test)
             (maphash (lambda (name keys)
                        (dolist (key (remove-if-not (lambda (key) (funcall test key name)) keys))
                          (pushnew key (gethash name stale) :test #'equal)))
                      users)))
      (note (names-to-keys #'expanded-names changed comparison)
            (lambda (key name) (older-user-p key name (gethash name changed) comparison)))
      (note (names-to-keys #'called-names (macro-names comparison) comparison)
            (lambda (key name)
              (declare (ignore name))
              (not (member (state-of key comparison) '(:live :alone nil))))))
    (loop for name being the hash-keys of stale using (hash-value keys)
          collect (cons name keys))))
