;;;; load-system.lisp -- LOAD-SYSTEM
;;;;
;;;; The folder build/ loads, compiles, disassembles and tests.  Each file has a function that the
;;;; bridge calls, run as an evaluation (eval/perform.lisp); tests.lisp uses test-frameworks.lisp.

(cl:in-package #:swank-mcp)

(defun load-system (name &key (session "default") (token 0) force (debug 1))
  "Load the system NAME, or the one that the file of that name defines.  With FORCE, load again
what is up to date.  The answer is EVALUATE's, without values."
  (let* ((file (definition-path name))
         (name (if file (pathname-name file) (string-downcase name))))
    (call-registered (make-evaluation :token token :session (ensure-session session)
                                      :code `(load-named-system ,name :force ,force :file ,file)
                                      :system name)
                     "COMMON-LISP-USER" debug)))
