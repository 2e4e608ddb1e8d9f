;;;; stop.lisp -- STOP: a person ends what agents evaluate
;;;;
;;;; The folder people/ has what a person calls who shares the image with agents: in a REPL, in any
;;;; editor or in a terminal.  It uses every folder above it.  No code of the bridge's is needed for
;;;; it, but the bridge is told what a person does.  Begin here.

(cl:in-package #:swank-mcp)

(defun for-people-only (name)
  "Signal an error if NAME, a function for people, is called by the code of an agent."
  (when *evaluation*
    (error "~(~A~) is for the person who shares this image, not for the code of an agent." name)))

(defun evaluation-line (evaluation)
  "EVALUATION on one line."
  (format nil "~@[~D ~](~A): ~A" (evaluation-number evaluation)
          (session-name (evaluation-session evaluation))
          (clip (one-line (clip (princ-to-string (evaluation-code evaluation)) 500)) 60)))

(defun to-be-stopped (number)
  "The evaluations that STOP with NUMBER ends, oldest first."
  (let ((all (with-lock () (reverse *evaluations*))))
    (if number
        (remove number all :key #'evaluation-number :test-not #'eql)
        (remove-if (lambda (evaluation)
                     (or (suspendedp evaluation) (thread-of-program-p evaluation)))
                   all))))

(defun stop (&optional number)
  "Stop what agents evaluate in this image, jobs too, and print what that was.  With NUMBER stop
that evaluation alone, also a suspended one.  Each agent's reply says that the person stopped it.

Without NUMBER, suspended evaluations stay as they are.  A call that waits for its turn begins when
the one before it has ended, unless the person calls PAUSE before.  If cleanup forms take longer
than a second they are broken off, too.  Return the numbers of what was stopped."
  (for-people-only 'stop)
  (let ((evaluations (to-be-stopped number)))
    (with-lock ()
      (dolist (evaluation evaluations)  ; it may not be at the point yet where it can be interrupted
        (setf (evaluation-early-stop evaluation) :stopped)))
    (when evaluations
      (tell-bridges "stopped~{ ~D~}" (mapcar #'evaluation-token evaluations)))
    (dolist (evaluation evaluations)
      (format t "~&; Stopping ~A~%" (evaluation-line evaluation)))
    (dolist (evaluation evaluations)
      (interrupt-evaluation evaluation :stopped))
    (unless evaluations
      (format t "~&; ~:[No agent evaluates anything~;No evaluation ~:*~D is in progress~].~%" number))
    (remove nil (mapcar #'evaluation-number evaluations))))
