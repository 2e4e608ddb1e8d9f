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

;;; An evaluation that ends beside another leaves it what that one is just defining.

(define-test defined-beside-another
  (let* ((session (ensure-session "beside"))
         (one (make-evaluation :token 1 :session session))
         (other (make-evaluation :token 2 :session session))
         (form (list 'defun 'made-beside '() '(list 1))))
    (let ((*evaluations* (list one other)))
      (let ((*evaluation* one) (*noting* session))
        (note-candidate session '(:function . made-beside) form nil nil)
        (note-direct-definition '(:function . made-beside))
        (note-assignment session 'assigned-beside))
      ;; between its two looks, one at candidates and one at direct definitions
      (commit-definitions other)
      (eval form)
      (set 'assigned-beside 1)
      (commit-definitions other)
      (check (own-definitions session) '())
      (check (evaluation-losses other) '())
      (commit-definitions one)
      (check (own-definitions session) '((:function . made-beside) (:variable . assigned-beside)))
      (check (mapcar #'second (evaluation-journal one)) '("(DEFUN MADE-BESIDE () (LIST 1))"))
      (check (mapcar #'second (evaluation-losses one)) (list *assigned-why*)))
    (fmakunbound 'made-beside)
    (makunbound 'assigned-beside)
    (own-definitions session)))

;;; An answer has as much of the journal as goes into it, and JOURNAL-PART the rest, in order.

(define-test journal-in-parts
  (let* ((session (ensure-session "parts"))
         (evaluation (make-evaluation :token 1 :session session))
         (*evaluations* (list evaluation)))
    (flet ((texts (entries) (mapcar #'second entries)))
      (dolist (text '("a" "b" "c" "dddd" "e"))
        (note-journal-entry evaluation (list '() text) 1))
      (let ((*journal-part* 3) (*journal-part-size* 4))
        (check (texts (journal-for-wire evaluation)) '("a" "b" "c"))
        (note-journal-entry evaluation (list '() "f") 1)
        (check (texts (journal-part session)) '("dddd"))
        (check (and (session-journal session) t) t)
        (check (texts (journal-for-wire evaluation)) '("e" "f"))
        (check (session-journal session) '())
        (check (journal-part session) '())))))

;;; What an evaluation that is over has noted, the next one commits.

(define-test defined-when-it-was-over
  (let* ((session (ensure-session "over"))
         (over (make-evaluation :token 1 :session session))
         (next (make-evaluation :token 2 :session session))
         (form (list 'defun 'made-later '() '(list 1))))
    (let ((*evaluation* over)) (note-candidate session '(:function . made-later) form nil nil))
    (commit-definitions next)
    (check (mapcar #'candidate-evaluation (noted-candidates session)) '(nil))
    (eval form)
    (commit-definitions next)
    (check (own-definitions session) '((:function . made-later)))
    (fmakunbound 'made-later)
    (own-definitions session)))

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
