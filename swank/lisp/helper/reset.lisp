;;;; reset.lisp -- RESET-SESSION

(cl:in-package #:swank-mcp)

;;; In an image of our own everything that was not there before the first
;;; evaluation goes: a snapshot of COMMON-LISP-USER tells what was.  In a
;;; person's image only what the session defined is undefined; no symbol is
;;; uninterned and no use-list touched, because others may rely on them by now.

(defstruct (baseline (:copier nil))
  (symbols (present-symbols (find-package '#:common-lisp-user)))
  (uses (package-use-list '#:common-lisp-user)))

(defun present-symbols (package)
  (let ((table (make-hash-table :test 'eq)))
    (do-symbols (symbol package table)
      (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
        (when (and (eq found symbol) (member status '(:internal :external)))
          (setf (gethash symbol table) t))))))

(defun user-symbols ()
  (and *launched* *baseline* (present-symbols (find-package '#:common-lisp-user))))

(defun note-loaded (session designator)
  "The system DESIGNATOR was loaded: list it, and let stay at a reset what it has
brought into COMMON-LISP-USER."
  (let ((name (if (and (consp designator) (eq (first designator) 'quote))
                  (second designator)
                  designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (string-downcase name))))
  (let ((before (session-before-load session)))
    (when before
      (loop for symbol being the hash-keys of (user-symbols)
            unless (gethash symbol before)
              do (setf (gethash symbol (baseline-symbols *baseline*)) t)))
    (setf (session-before-load session) nil)))

(defun undefine (kind name)
  (ecase kind
    ((:function :generic-function) (fmakunbound name))
    (:macro (fmakunbound name))
    (:compiler-macro (setf (compiler-macro-function name) nil))
    (:variable
     (handler-case (makunbound name)
       ;; SB-EXT:DEFGLOBAL makes variables that cannot be unbound
       (error (condition)
         (if *launched*
             (unintern name (symbol-package name))
             (error condition)))))
    ((:class :structure :condition)
     #+sbcl (dolist (method (copy-list (sb-mop:specializer-direct-methods (find-class name))))
              (remove-method (sb-mop:method-generic-function method) method))
     ;; SBCL remembers subclasses for ever, and with them the names
     #+sbcl (let ((class (find-class name)))
              (dolist (super (sb-mop:class-direct-superclasses class))
                (sb-mop:remove-direct-subclass super class)))
     (setf (find-class name) nil))
    (:method (remove-method (fdefinition (first name)) (find-defined-method name)))
    #+sbcl (:symbol-macro (sb-int:clear-info :variable :macro-expansion name)
                          (sb-int:clear-info :variable :kind name))
    #+sbcl (:type (sb-int:clear-info :type :expander name)
                  (sb-int:clear-info :type :kind name))
    #+sbcl (:setf-expander (sb-int:clear-info :setf :expander name))
    ;; SBCL has no way back but to unintern the symbol
    (:constant (when *launched* (unintern name (symbol-package name))))))

(defun call-collecting-problems (function)
  "Call FUNCTION with a function that calls its own argument and notes errors;
return the notes."
  (let ((problems '()))
    (funcall function
             (lambda (what thunk)
               (handler-case (handler-bind ((warning #'muffle-warning)) (funcall thunk))
                 (error (condition)
                   (push (format nil "~A: ~A" what (clip (condition-text condition) 200))
                         problems)))))
    (nreverse problems)))

(defun undefine-all (session attempt)
  (dolist (key (reverse (own-definitions session)))
    (destructuring-bind (kind . name) key
      (funcall attempt (format nil "~(~A~) ~A" kind (name-text name))
               (lambda () (when (definedp kind name) (undefine kind name)))))))

(defun package-users (session package)
  "The names of the packages that use PACKAGE and that SESSION has not made."
  (mapcar #'package-name
          (set-difference (package-used-by-list package) (own-packages session))))

(defun left-behind (session)
  "In a person's image, what a reset leaves, in words."
  (unless *launched*
    (let ((constants (loop for (kind . name) in (own-definitions session)
                           when (eq kind :constant) collect (name-text name)))
          (systems (session-systems session)))
      (list (format nil "The image is not ours: symbols stay interned and use-lists as they are~@[, the constants ~{~A~^, ~} keep their values~]~@[, the systems ~{~A~^, ~} stay loaded~]."
                    constants systems)))))

(defun delete-packages (session attempt)
  (dolist (package (own-packages session))
    (funcall attempt (format nil "package ~A" (package-name package))
             (lambda ()
               (when (and (not *launched*) (package-users session package))
                 (error "~{~A~^, ~} use~:[~;s~] it" (package-users session package)
                        (null (rest (package-users session package)))))
               #+sbcl (sb-ext:unlock-package package)
               (dolist (user (package-used-by-list package))
                 (unuse-package package user))
               (delete-package package)))))

(defun restore-user-package (attempt)
  (let ((package (find-package '#:common-lisp-user)))
    (dolist (used (set-difference (package-use-list package) (baseline-uses *baseline*)))
      (funcall attempt (package-name used) (lambda () (unuse-package used package))))
    (loop for symbol being the hash-keys of (present-symbols package)
          unless (gethash symbol (baseline-symbols *baseline*))
            do (let ((symbol symbol))
                 (funcall attempt (symbol-name symbol) (lambda () (unintern symbol package)))))))

(defun reset-session (&optional (session "default"))
  "Make SESSION as new.  (:UNDEFINED count :PROBLEMS (TEXT ...) :LEFT (TEXT ...)
:SYSTEMS (NAME ...))."
  (let* ((session (ensure-session session))
         (still (end-suspended session))
         (count (length (own-definitions session)))
         (left (left-behind session))
         (problems
           (call-collecting-problems
            (lambda (attempt)
              #+sbcl (when *launched* (eval '(untrace)))
              (forget-traces session)
              (forget-handles session)
              (undefine-all session attempt)
              (delete-packages session attempt)
              (when (and *launched* *baseline*)
                (restore-user-package attempt))))))
    (clrhash (session-definitions session))
    (setf (session-packages session) '()
          (session-gone session) '()
          (session-known-packages session) (list-all-packages)
          (session-values session) (initial-values)
          (session-readtable session) (first-readtable session)
          (session-last-error session) nil
          (session-departed session) '())
    (enter-package session (find-package '#:common-lisp-user))
    (answer (plist-without-nils :undefined count :problems (append still problems) :left left
                                :systems (session-systems session)))))
