;;;; diagnostics.lisp -- kinds of diagnostics of the compiler and of ASDF
;;;;
;;;; The folder eval/ evaluates code.  It reports errors and warnings, and it stops, suspends,
;;;; debugs and restores.  It uses all the folders before it.  Begin with evaluate.lisp (an
;;;; evaluation as a whole) and perform.lisp (the user's part of it); these two use the files
;;;; before them.

(cl:in-package #:swank-mcp)

(defvar *building* nil
  "The name of the system that is being loaded.")

(defvar *work-file* nil
  "The name of the file that has the text to be compiled, where that came without a file.")

(defvar *notes* nil
  "The COLLECTOR that takes the compiler's diagnostics, or NIL: then the reply has them under
[warnings].  See notes.lisp.")

(defun undefined-kind-and-name (condition)
  "(VALUES :FUNCTION 'FOO) for SBCL's warning that FOO is undefined."
  (let ((arguments (and (typep condition 'simple-condition)
                        (simple-condition-format-arguments condition))))
    (when (and (consp arguments)
               (member (first arguments) '(:function :variable))
               (consp (rest arguments))
               (null (cddr arguments)))
      (values (first arguments) (second arguments)))))

#+sbcl
(defun redefinition-p (condition)
  (typep condition 'sbcl:redefinition-warning))

(defun build-summary-p (condition)
  "True of ASDF's warning that a file had warnings: the reply has those already."
  (let* ((name (class-name (class-of condition))) (home (symbol-package name)))
    (and home
         (eql 0 (search "UIOP" (package-name home)))
         (eql 0 (search "COMPILE-" (symbol-name name))))))
