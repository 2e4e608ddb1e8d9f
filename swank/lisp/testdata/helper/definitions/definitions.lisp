;;;; definitions.lisp -- what a session has defined, under odd circumstances

(cl:in-package #:swank-mcp)

;;; Status is asked for while the session defines.

(define-test asked-while-defining
  (let* ((session (ensure-session "busy"))
         (definer (sb-thread:make-thread
                   (lambda ()
                     (handler-case (dotimes (i 30000 :done)
                                     (enter-definition session (cons :variable (make-symbol (format nil "~D" i)))))
                       (error (condition) (princ-to-string condition)))))))
    (check (handler-case (loop while (sb-thread:thread-alive-p definer)
                               do (own-definitions session)
                               finally (return :done))
             (error (condition) (princ-to-string condition)))
           :done)
    (check (sb-thread:join-thread definer) :done)
    (clrhash (session-definitions session))

    ;; a definition that has been noted and is not made yet is entered when it is made
    (let ((evaluation (make-evaluation :token 1 :session session))
          (form (list 'defun 'made-soon '() '(list 1))))
      (note-candidate session '(:function . made-soon) form nil nil)
      (commit-definitions evaluation)
      (check (own-definitions session) '())
      (check (evaluation-journal evaluation) '())
      (eval form)
      (commit-definitions evaluation)
      (check (own-definitions session) '((:function . made-soon)))
      (check (second (first (evaluation-journal evaluation))) "(DEFUN MADE-SOON () (LIST 1))")
      (fmakunbound 'made-soon)
      (check (own-definitions session) '())
      (check (hash-table-count (session-definitions session)) 0))))

;;; Code with circular literals

(define-test circular-literals
  (check (mapcar #'second
                 (getf (evaluated "(progn (defun before () 1) (defparameter *circle* '#1=(1 (2 . #1#) . #1#)))
                                 (fmakunbound 'before) (makunbound '*circle*)"
                                  :package "SWANK-MCP")
                       :journal))
         '("(DEFUN BEFORE () 1)"
           "(DEFPARAMETER *CIRCLE* '#1=(1 (2 . #1#) . #1#))")))

;;; The form of an EQL specializer is not evaluated again.

(define-test eql-specializers
  (evaluated "(defvar *evaluated* 0) (defgeneric specialized (x))
            (defmethod specialized ((x (eql (incf *evaluated*)))) 1)
            (defmethod specialized ((x (eql ':key))) 2)
            (defmethod specialized :around ((x integer)) (call-next-method))"
             :package "SWANK-MCP")
  (check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
  (check (symbol-value '*evaluated*) 1)
  (check (find-defined-method '(specialized () ((eql ':other)))) nil)
  (check (find-defined-method '(specialized () (integer))) nil)
  (check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
  (undefine :method '(specialized () ((eql ':key))))
  (check (count :method (own-definitions (ensure-session "test")) :key #'car) 2)
  (fmakunbound 'specialized)
  (makunbound '*evaluated*))

;;; Whose is a package that MAKE-PACKAGE made while we evaluated?

(define-test packages-named-in-code
  (check (mapcar (lambda (code) (named-in-p "A" code))
                 '("(make-package :a)" "(make-package \"A\")" "(make-package '#:a)" "(list 'b-a)" "(lambda (x) x)" "a" ""))
         '(t t t nil nil t nil)))

;;; Keys of definitions tell any two apart.

(define-test keys-of-definitions
  (flet ((key (form) (key-text (ensure-session "test") (defined-by form))))
    (check (string= (key '(defmethod m ((x (eql '((a))))) 1)) (key '(defmethod m ((x (eql '((b))))) 1))) nil)))
