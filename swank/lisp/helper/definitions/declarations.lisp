;;;; declarations.lisp -- calls at top level that are evaluated again, though they define nothing

(cl:in-package #:swank-mcp)

(defparameter *declaring-operators* '(declaim proclaim require))

(defun loading-call-p (form)
  "True of (ASDF:LOAD-SYSTEM ...) and (QL:QUICKLOAD ...)."
  (and (symbolp (first form))
       (first form)
       (member (symbol-name (first form)) '("LOAD-SYSTEM" "QUICKLOAD") :test #'string=)
       (implementation-or-loader-p (symbol-package (first form)))))

(defun defining-call-p (form)
  "True of a form that does nothing but define: a defining operator's, or a call
of a macro of the user's that expanded to definitions."
  (or (assoc (first form) *defining-operators*)
      (user-macro-p (first form))))

(defun users-package-p (designator)
  "False of packages without which no image works, and of what is no name."
  (let ((name (cond ((and (consp designator) (eq (first designator) 'quote)) (second designator))
                    (t designator))))
    (and name
         (typep name '(or symbol string))
         (notany (lambda (prefix) (eql 0 (search prefix (string name))))
                 '("SWANK" "SB-" "COMMON-LISP" "CL" "KEYWORD" "ASDF" "UIOP")))))

(defun declaring-call-p (form)
  "True of a form that changes packages or declares, and so belongs in the journal.
That a package of the session's is gone is known without its DELETE-PACKAGE."
  (let ((operator (first form)))
    (cond ((eq operator 'delete-package)
           (and (users-package-p (second form))
                (not (and *noting* (own-package-name-p *noting* (second form))))))
          ((eq operator 'rename-package) (users-package-p (second form)))
          (t (or (member operator *package-operators*)
                 (member operator *declaring-operators*))))))
