;;;; candidates.lisp -- forms that may define something, noted as they are expanded

(cl:in-package #:swank-mcp)

;;; Variables that an assignment creates.  list-definitions lists them like others.  But they
;;; have no definition that a new image could evaluate, so the bridge reports them as lost when
;;; the image dies.

(defparameter *assigned-why* "an assignment made it"
  "The reason by which the bridge recognises such a variable.")

(defun note-assignment (session place &optional environment)
  "Remember PLACE if assigning it creates a variable."
  (when (and (consp place) (eq (first place) 'symbol-value) (consp (rest place))
             (consp (second place)) (eq (first (second place)) 'quote))
    (setf place (second (second place))))
  (when (and (symbolp place) place (not (keywordp place))
             (not (boundp place))
             (not (eq (symbol-package place) (find-package '#:common-lisp)))
             (not (member place (lexical-names environment))))
    (with-lock () (pushnew (cons place *evaluation*) (session-assigned session) :test #'equal))))

(defun note-assignments (session form)
  "Remember the variables that FORM creates by (SETQ X 1) or (SET 'X 1); SETF is noted when it
is expanded."
  (when (and (consp form) (ignore-errors (list-length form)))
    (case (first form)
      (progn (dolist (part (rest form)) (note-assignments session part)))
      ((setf setq) (loop for place in (rest form) by #'cddr
                         do (note-assignment session place)))
      (set (when (rest form) (note-assignment session (list 'symbol-value (second form))))))))

(defun take-assignments (evaluation)
  "The symbols that EVALUATION was to give a value, in order; they are noted no more."
  (let* ((session (evaluation-session evaluation))
         (own (remove-if-not (lambda (noted-by) (own-p noted-by evaluation))
                             (with-lock () (session-assigned session))
                             :key #'cdr)))
    (with-lock ()
      (setf (session-assigned session) (set-difference (session-assigned session) own :test #'eq)))
    (reverse (mapcar #'car own))))

(defun commit-assignments (evaluation)
  (let ((session (evaluation-session evaluation)))
    (dolist (name (take-assignments evaluation))
      (when (and (boundp name) (not (gethash (cons :variable name) (session-definitions session))))
        (enter-definition session (cons :variable name))
        (note-loss evaluation (cons :variable name) *assigned-why*)))))

;;; Definitions

(defun foreign-file-p ()
  "True while a file is compiled or loaded that is not the session's own but a system's."
  (and (file-at-work-p)
       (not (and *file-recorder* (own-file-p)))))

(defun note-expansion (form environment)
  "Note FORM, a macro call, as a candidate if it may define something."
  (let ((session *noting*))
    (when (and session (consp form) (symbolp (first form)))
      (when (file-at-work-p) (adopt-file))
      #+sbcl (when *file-recorder* (record-forms *file-recorder*))
      (unless (foreign-file-p)
        (if (eq (first form) 'setf)
            (note-assigned-definitions session form environment)
            (let ((key (ignore-errors (defined-by form))))
              (when (or key (user-macro-p (first form)))
                (let ((toplevel (current-toplevel)))
                  (when toplevel (add-to-trail form toplevel))
                  (when (rest key)
                    (note-candidate session key form toplevel environment))))))))))

(defun current-toplevel ()
  #+sbcl (or (and *file-recorder* (file-at-work-p) (recorded-toplevel *file-recorder*))
             *toplevel*)
  #-sbcl *toplevel*)

(defun note-candidate (session key form toplevel environment &optional why)
  (let ((candidates (session-candidates session)))
    (unless (or (loader-symbol-p (key-symbol key))
                (gethash form candidates)
                (expansion-of-noted-p form toplevel))
      (let ((number (incf *candidate-number*)) (before (definition-identity (car key) (cdr key)))
            (replaced (definition-replaced-by session key toplevel)))
        (when replaced (require-permission key))
        #+sbcl (number-source-locations number)
        (setf (gethash form candidates)
              (make-candidate :key key :form form :toplevel toplevel :number number :why why
                              :trail (trail toplevel)
                              :position (input-position)
                              :names (names-used (lexical-names environment) form)
                              :before before
                              :was (and before (definition-before key))
                              :replaced replaced
                              :builtp (and (not *launched*) (from-built-file-p key))
                              :unboundp (and (eq (car key) :variable)
                                             (not (boundp (cdr key))))))))))

#+sbcl
(defun number-source-locations (number)
  "Have SBCL's source locations carry NUMBER from now on."
  (let ((plist sbcl:*source-plist*))
    (when (eq (first plist) :swank-mcp-number) (setf plist (cddr plist)))
    (when (getf plist :swank-mcp)
      (setf sbcl:*source-plist* (list* :swank-mcp-number number plist)))))

(defun expansion-of-noted-p (form toplevel)
  "True of the DEFMACRO that DEFINE-MODIFY-MACRO expands to."
  (let ((outer (second (trail toplevel))))
    (and (eq (first form) 'defmacro)
         (eq (first outer) 'define-modify-macro)
         (eq (second form) (second outer)))))

(defun loader-package-p (package)
  (and package
       (find-if (lambda (prefix) (eql 0 (search prefix (package-name package))))
                '("ASDF" "QL" "QUICKLISP"))))

(defun loader-symbol-p (symbol)
  "True of SYMBOL if it belongs to ASDF, Quicklisp or a module of the implementation while files
are loaded: then LOAD-SYSTEM or REQUIRE defines it."
  (let ((package (and (symbolp symbol) (file-at-work-p) (symbol-package symbol))))
    (and package
         (or (loader-package-p package) (implementation-package-p package)))))

(defun note-assigned-definitions (session form environment)
  "Note what (SETF (FDEFINITION 'NAME) ...) and the like define, and the variables that
(SETF NAME ...) creates."
  (loop for (place value) on (and (ignore-errors (list-length form)) (rest form)) by #'cddr
        for key = (ignore-errors (assigned-definition place))
        do (note-assignment session place environment)
        when (and key value)            ; (SETF (FIND-CLASS 'NAME) NIL) defines nothing
          do (note-candidate session key `(setf ,place ,value) (current-toplevel) environment
                             (unless (literal-function-p value)
                               "its definition is what the code computed"))))

(defun literal-function-p (form)
  "True if FORM has the same function or class as its value in another image."
  (and (consp form)
       (or (member (first form) '(lambda function))
           (and (member (first form) '(fdefinition symbol-function macro-function find-class))
                (consp (second form))
                (eq (first (second form)) 'quote)))))

;;; A launched image also watches the functions that define.  So it knows of definitions that
;;; were made by calling them directly, though not of their source.

(defun note-direct-definition (key)
  (let ((session *noting*))
    (when (and session (file-at-work-p)) (adopt-file))
    (when (and session (not (foreign-file-p)) (not (loader-symbol-p (key-symbol key))))
      (let ((touched (session-direct-definitions session)))
        (unless (gethash key touched)
          (setf (gethash key touched)
                (list (definition-identity (car key) (cdr key))
                      (and (file-at-work-p) (namestring (file-at-work-p)))
                      (current-toplevel)
                      (incf *candidate-number*)
                      *evaluation*)))))))

(defun ordinary-name-p (name)
  "True of a symbol and of (SETF SYMBOL); SBCL has other function names for itself."
  (or (and (symbolp name) name)
      (and (consp name) (eq (first name) 'setf))))

#+sbcl
(defun watch-definers ()
  (flet ((watch (name keys)
           (unless (sbcl:encapsulated-p name 'swank-mcp-definitions)
             (sbcl:encapsulate name 'swank-mcp-definitions
                               (lambda (function &rest arguments)
                                 (when *noting*
                                   (mapc #'note-direct-definition
                                         (ignore-errors (funcall keys arguments))))
                                 (apply function arguments))))))
    (dolist (place '(fdefinition symbol-function))
      (watch `(setf ,place)
             (lambda (arguments)
               (destructuring-bind (function name) arguments
                 (when (ordinary-name-p name)
                   (list (cons (if (typep function 'generic-function) :generic-function :function)
                               name)))))))
    (watch '(setf macro-function)
           (lambda (arguments) (list (cons :macro (second arguments)))))
    (watch '(setf compiler-macro-function)
           (lambda (arguments) (list (cons :compiler-macro (second arguments)))))
    (dolist (name '(add-method remove-method))
      (watch name (lambda (arguments) (list (cons :method (apply #'designator-of arguments))))))))

#+sbcl
(defun designator-of (function method)
  (list (sb-mop:generic-function-name function)
        (method-qualifiers method)
        (mapcar (lambda (specializer)
                  (if (typep specializer 'sb-mop:eql-specializer)
                      (eql-specializer-form (sb-mop:eql-specializer-object specializer))
                      (class-name specializer)))
                (sb-mop:method-specializers method))))
