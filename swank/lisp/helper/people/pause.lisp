;;;; pause.lisp -- PAUSE and RESUME: a person has the agents' calls wait

(cl:in-package #:swank-mcp)

;;; The bridge has calls wait that would begin.  In an image with several bridges, and for one that
;;; comes later, *PAUSED* keeps the state.

(defun note-pause (pausedp)
  "Called by a bridge whose person has paused it or had it go on: the others do the same."
  (setf *paused* pausedp)
  (tell-bridges (if pausedp "paused" "resumed"))
  (answer t))

(defun running-evaluations ()
  (remove-if #'suspendedp (with-lock () (reverse *evaluations*))))

(defun pause ()
  "Have calls of agents that would evaluate wait until RESUME, without a limit; their agents read
why.  What runs goes on, as (swank-mcp:stop) would end it, and look-ups are answered."
  (for-people-only 'pause)
  (setf *paused* t)
  (tell-bridges "paused")
  (format t "~&; Calls of agents that would evaluate wait now; (swank-mcp:resume) lets them go on.~%")
  (dolist (evaluation (running-evaluations))
    (format t "; Still running: ~A~%" (evaluation-line evaluation)))
  (values))

(defun resume ()
  "Let the calls go on that wait because of PAUSE, or because of a command that has paused them."
  (for-people-only 'resume)
  (setf *paused* nil)
  (tell-bridges "resumed")
  (format t "~&; Calls of agents go on.~%")
  (values))
