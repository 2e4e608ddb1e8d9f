;;;; load-system.lisp -- LOAD-SYSTEM

(cl:in-package #:swank-mcp)

(defun load-apart (name debug &key force file)
  "LOAD-NAMED-SYSTEM with code compiled with DEBUG, whose fasls do not stay."
  (call-with-building
   (lambda ()
     (let ((name (meant-system name file)))
       (note-origin name)
       (call-apart (constantly (list name)) debug
                   (lambda () (load-named-system name :force force :file file)))))))

(defun load-system (name &key (session "default") (token 0) force (debug 1) patience)
  "Load the system NAME, or the one that the file of that name defines.  With FORCE, load again
what is up to date; with DEBUG, compile and load again what is the project's.  The answer is
EVALUATE's, without values."
  (let* ((file (definition-path name))
         (name (if file (pathname-name file) name)))
    (call-registered (make-evaluation :token token :session (ensure-session session)
                                      :code `(,@(if (eql debug 1)
                                                    `(load-named-system ,name)
                                                    `(load-apart ,name ,debug))
                                              :force ,force :file ,file)
                                      :system name)
                     "COMMON-LISP-USER" 1 patience)))
