;;;; closing.lisp -- CLOSE-SESSION

(cl:in-package #:swank-mcp)

(defun end-serving-thread (thread)
  "Have THREAD end, which serves a session; one that cannot be stopped goes on."
  (loop for pause in '(1/50 1/50 1/10 1/2 1 1 2 4)
        while (swank/backend:thread-alive-p thread)
        do (end-service thread)
           (sleep pause))
  (forget-dead-mailboxes))

(defun close-session (name &optional id)
  "Give up what the session NAME has: its suspended evaluations, its traces, its objects
under inspection, and its thread, which Swank knows by ID.  What it has defined stays, and
is nobody's."
  (let ((session (with-lock () (gethash name *sessions*)))
        (thread (and id (swank/backend:find-thread id))))
    (when session
      (end-suspended session)
      (forget-traces session)
      (forget-handles session)
      (with-lock () (remhash name *sessions*)))
    (when thread
      (in-own-thread "swank-mcp clean-up" (lambda () (end-serving-thread thread))))
    (answer t)))
