;;;; diagnostics.lisp -- what kind of diagnostic the compiler or ASDF has signalled
;;;;
;;;; The folder eval/ evaluates code: what is around it, what is told of errors and
;;;; warnings, how it is stopped, suspended, debugged and brought back.  It uses all the folders
;;;; before it.  Begin with evaluate.lisp (an evaluation as a whole) and perform.lisp (the
;;;; user's part of it); the files before these two are what they stand on.

(cl:in-package #:swank-mcp)

(defvar *building* nil
  "The name of the system that is being loaded.")

(defvar *notes* nil
  "What collects the compiler's diagnostics in place of [warnings]; see notes.lisp.")

(defun undefined-kind-and-name (condition)
  "(VALUES :FUNCTION 'FOO) for SBCL's warning that FOO is undefined."
  (let ((arguments (and (typep condition 'simple-condition)
                        (simple-condition-format-arguments condition))))
    (when (and (consp arguments)
               (member (first arguments) '(:function :variable))
               (consp (rest arguments))
               (null (cddr arguments)))
      (values (first arguments) (second arguments)))))

(defun redefinition-p (condition)
  #+sbcl (typep condition 'sbcl:redefinition-warning)
  #-sbcl (progn condition nil))

(defun build-summary-p (condition)
  "True of ASDF's warnings that a file had warnings, which have been told."
  (let* ((name (class-name (class-of condition))) (home (symbol-package name)))
    (and home
         (eql 0 (search "UIOP" (package-name home)))
         (eql 0 (search "COMPILE-" (symbol-name name))))))
