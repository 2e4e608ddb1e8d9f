;;;; closing.lisp -- CLOSE-SESSION

(cl:in-package #:swank-mcp)

(defun end-serving-thread (thread)
  "End THREAD, which serves a session.  One that cannot be stopped goes on."
  (loop for pause in '(1/50 1/50 1/10 1/2 1 1 2 4)
        while (swank/backend:thread-alive-p thread)
        do (end-service thread)
           (sleep pause))
  (forget-dead-mailboxes))

(defun release-thread (id)
  "End the thread that Swank knows by ID and that has served an evaluation in the background."
  (let ((thread (swank/backend:find-thread id)))
    (when thread
      (in-own-thread "swank-mcp clean-up" (lambda () (end-serving-thread thread))))
    (answer t)))

(defun close-session (name &optional id)
  "End the session NAME: its suspended evaluations, its traces, its handles, and its thread, which
Swank knows by ID.  What it has defined stays and belongs to no session."
  (let ((session (with-lock () (gethash name *sessions*)))
        (thread (and id (swank/backend:find-thread id))))
    (when session
      (end-suspended session)
      (untrace-own session)
      (forget-traces session)
      (forget-handles session)
      (with-lock ()
        (remhash name *sessions*)
        (dolist (guest *guests*)
          (setf (guest-sessions guest) (remove name (guest-sessions guest) :test #'string=)))))
    (when thread
      (in-own-thread "swank-mcp clean-up" (lambda () (end-serving-thread thread))))
    (answer t)))
