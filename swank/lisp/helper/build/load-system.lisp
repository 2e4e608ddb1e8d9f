;;;; load-system.lisp -- LOAD-SYSTEM
;;;;
;;;; The folder build/ has the work on files and systems: loading, compiling, disassembling,
;;;; testing.  Each file has what the bridge calls, run as an evaluation (eval/work.lisp);
;;;; test-frameworks.lisp is for tests.lisp.

(cl:in-package #:swank-mcp)

(defun load-system (name &key (session "default") (token 0) force (debug 1))
  "Load the system NAME, or that which the file of that name defines; with FORCE, also
what is loaded and up to date.  The answer is EVALUATE's, without values."
  (let* ((file (definition-path name))
         (name (if file (pathname-name file) (string-downcase name))))
    (call-registered (make-evaluation :token token :session (ensure-session session)
                                      :code `(load-named-system ,name :force ,force :file ,file)
                                      :system name)
                     "COMMON-LISP-USER" debug)))
