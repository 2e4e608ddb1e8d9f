;;;; noting.lisp -- forms that may define something, noted as they are expanded

(cl:in-package #:swank-mcp)

;;; Whose is a file?

(defun foreign-file-p ()
  "True while a file is compiled or loaded whose definitions are not the session's
own: a system's."
  (and (file-at-work-p)
       (not (and *file-recorder* (own-file-p)))))

;;; Noting

(defun note-expansion (form environment)
  "Note what the macro call FORM defines, if anything."
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
    (unless (or (loaders-p (key-symbol key))
                (gethash form candidates)
                (expansion-of-noted-p form toplevel))
      (let ((number (incf *candidate-number*)))
        #+sbcl (number-source-locations number)
        (setf (gethash form candidates)
              (make-candidate :key key :form form :toplevel toplevel :number number :why why
                              :trail (trail toplevel)
                              :names (names-used (names-around environment) form)
                              :before (definition-identity (car key) (cdr key))
                              :theirs (theirs-before session key toplevel)
                              :builtp (and (not *launched*) (from-built-file-p key))
                              :unboundp (and (eq (car key) :variable)
                                             (not (boundp (cdr key))))))))))

#+sbcl
(defun number-source-locations (number)
  "Have what SBCL records of a definition's place from now on carry NUMBER."
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

(defun implementation-or-loader-p (package)
  (and package
       (find-if (lambda (prefix) (eql 0 (search prefix (package-name package))))
                '("ASDF" "QL" "QUICKLISP"))))

(defun loaders-p (symbol)
  "True of names of ASDF, Quicklisp and the implementation's modules while files are
loaded: LOAD-SYSTEM and REQUIRE bring them."
  (let ((package (and (symbolp symbol) (file-at-work-p) (symbol-package symbol))))
    (and package
         (or (implementation-or-loader-p package) (implementation-package-p package)))))

(defun note-assigned-definitions (session form environment)
  "Note what (SETF (FDEFINITION 'NAME) ...) and the like define, and variables that
(SETF NAME ...) makes."
  (loop for (place value) on (and (ignore-errors (list-length form)) (rest form)) by #'cddr
        for key = (ignore-errors (assigned-definition place))
        do (note-assignment session place environment)
        when (and key value)            ; (SETF (FIND-CLASS 'NAME) NIL) defines nothing
          do (note-candidate session key `(setf ,place ,value) (current-toplevel) environment
                             (unless (literal-function-p value)
                               "its definition is what the code computed"))))

(defun literal-function-p (form)
  "True of a form that gives the same function, or class, in another image."
  (and (consp form)
       (or (member (first form) '(lambda function))
           (and (member (first form) '(fdefinition symbol-function macro-function find-class))
                (consp (second form))
                (eq (first (second form)) 'quote)))))

;;; In an image of our own the functions that define are watched, too: what calls
;;; them without a macro is found, though not its source.

(defun note-touched (key)
  (let ((session *noting*))
    (when (and session (file-at-work-p)) (adopt-file))
    (when (and session (not (foreign-file-p)) (not (loaders-p (key-symbol key))))
      (let ((touched (session-touched session)))
        (unless (gethash key touched)
          (setf (gethash key touched)
                (list (definition-identity (car key) (cdr key))
                      (and (file-at-work-p) (namestring (file-at-work-p)))
                      (current-toplevel)
                      (incf *candidate-number*))))))))

(defun ordinary-name-p (name)
  "True of names that people give to functions; SBCL has others for its own."
  (or (and (symbolp name) name)
      (and (consp name) (eq (first name) 'setf))))

#+sbcl
(defun watch-definers ()
  (flet ((watch (name keys)
           (unless (sbcl:encapsulated-p name 'swank-mcp-definitions)
             (sbcl:encapsulate name 'swank-mcp-definitions
                               (lambda (function &rest arguments)
                                 (when *noting*
                                   (mapc #'note-touched (ignore-errors (funcall keys arguments))))
                                 (apply function arguments))))))
    (dolist (place '(fdefinition symbol-function))
      (watch `(setf ,place)
             (lambda (arguments)
               (destructuring-bind (function name) arguments
                 (when (ordinary-name-p name)
                   (list (cons (if (typep function 'generic-function) :generic-function :function)
                               name)))))))
    (loop for (place . kind) in '((macro-function . :macro)
                                  (compiler-macro-function . :compiler-macro))
          do (let ((kind kind))
               (watch `(setf ,place)
                      (lambda (arguments) (list (cons kind (second arguments)))))))
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
