;;;; take-over.lisp -- TAKE-OVER: a person goes on with a suspended evaluation, in their debugger

(cl:in-package #:swank-mcp)

;;; The suspended thread takes it as a command of the debugger, and opens Swank's debugger for the
;;; person where it waits: with the true condition, restarts and frames.  No client waits for what
;;; comes of that.  If a restart lets the evaluation go on, its end is told as that of every
;;; suspended evaluation that no command has ended.

(defun suspended-for-people (number)
  "The suspended evaluation of that NUMBER, or without one the one that was suspended last; or NIL."
  (let ((all (remove-if-not #'suspendedp (with-lock () (copy-list *evaluations*)))))
    (if number
        (find number all :key #'evaluation-number)
        (first (sort all #'> :key (lambda (evaluation)
                                    (debuggee-since (evaluation-debuggee evaluation))))))))

;;; The debugger shows frames from the innermost one of the program's on, outwards to where each frame
;;; notes that there is none below.  So that note is made, for as long as the person is there, in the
;;; outermost frame of the program's.

(defun outermost-frame (frame)
  "The outermost frame of the program's from FRAME on, or NIL if it is not found."
  (loop with last = nil
        repeat 100000
        while frame
        do (let ((name (frame-name frame)))
             (when (member name '(evaluate-form read-form value-text do-work)) (return last))
             (when (or (form-frame-p name) (ignore-errors (user-frame-p (public-name name))))
               (setf last frame)))
           (setf frame (sbcl:frame-down frame))))

(defun call-without-outer-frames (frame function)
  "Call FUNCTION while no frames are known to be outside of those of the program's, of which FRAME is the
innermost."
  (let ((last (and frame (outermost-frame frame))))
    (if (and last (slot-exists-p last 'sbcl:%down))
        (let ((down (slot-value last 'sbcl:%down)))
          (setf (slot-value last 'sbcl:%down) nil)
          (unwind-protect (funcall function)
            (setf (slot-value last 'sbcl:%down) down)))
        (funcall function))))

(defun call-with-hook (hook function)
  "Call FUNCTION in this thread, which is an agent's, as in one of the person's whose debugger HOOK opens."
  (let ((*evaluation* nil) (*noting* nil)
        (*debugger-hook* hook) (sb-ext:*invoke-debugger-hook* hook))
    (funcall function)))

(defun debug-in-slime (connection condition)
  "Open SLDB for CONDITION behind CONNECTION."
  (let ((*standard-output* (or (swank::connection.user-output connection) *standard-output*))
        (swank::*sldb-quit-restart* 'leave-to-agent))
    (call-with-hook #'swank:swank-debugger-hook
                    (lambda ()
                      (swank::with-connection (connection)
                        (swank:invoke-slime-debugger condition))))))

(defun debug-in-sly (connection condition)
  "Open Sly's debugger for CONDITION behind CONNECTION."
  (progv (list (named-symbol '#:slynk "*SLY-DB-QUIT-RESTART*")) '(leave-to-agent)
    (call-with-hook (symbol-function (named-function '#:slynk "SLYNK-DEBUGGER-HOOK"))
                    (lambda ()
                      (call-in-sly connection
                                   (lambda ()
                                     (funcall (named-function '#:slynk "INVOKE-SLY-DEBUGGER") condition)))))))

(defun debug-as-person (evaluation connection)
  "Open a debugger for the person behind CONNECTION in this thread, that of EVALUATION, which is
suspended.  Return if they leave it without a restart."
  (let ((debuggee (evaluation-debuggee evaluation)))
    (with-lock ()
      (setf (debuggee-client debuggee) nil
            (debuggee-state debuggee) :person
            (debuggee-personp debuggee) t))
    (catch 'leave-to-agent
      (restart-case
          (let* ((innermost (first (debuggee-frames debuggee)))
                 (sbcl:*stack-top-hint* innermost))
            (call-without-outer-frames
             innermost
             (lambda ()
               (funcall (if (slime-p connection) #'debug-in-slime #'debug-in-sly)
                        connection (debuggee-condition debuggee)))))
        (leave-to-agent ()
          :report "Leave it suspended, for the agent.")))
    (setf (debuggee-personp debuggee) nil)
    '()))

(defun leave-when-gone (evaluation connection)
  "Wait until the person has left the debugger of EVALUATION.  If CONNECTION ends before, leave it for
them."
  (let ((debuggee (evaluation-debuggee evaluation)))
    (loop while (and (registeredp evaluation)
                     (member (debuggee-state debuggee) '(:busy :person)))
          do (sleep 0.5)
             (when (and (eq :person (debuggee-state debuggee)) (not (editor-connected-p connection)))
               (ignore-errors
                (interrupt-safely (evaluation-thread evaluation)
                                  (lambda () (ignore-errors (throw 'leave-to-agent '())))))))))

(defun take-over (&optional number)
  "Open the debugger of a suspended evaluation of an agent in your Emacs, where it is suspended: the one
of NUMBER, as HISTORY and the echo number them, or without it the one that was suspended last.  You see
the true condition, restarts and frames, and can do with it what you like.  Meanwhile the agent's tools
say that you are there.  A restart lets the evaluation go on, and the agent's next reply tells how it
ended and that it was you.  To quit the debugger, by q, leaves it suspended for the agent.  Return no
values."
  (for-people-only 'take-over)
  (let* ((evaluation (suspended-for-people number))
         (connection (or (own-editor) (first (editors)))))
    (cond ((null evaluation)
           (format t "~&; ~:[No evaluation is suspended~;No evaluation ~:*~D is suspended~].~%" number))
          ((null connection)
           (format t "~&; No Emacs is connected to this image, in which the debugger could be opened.~%"))
          (t (let* ((client (make-client :command (lambda (evaluation)
                                                    (debug-as-person evaluation connection))))
                    (state (hand-over client (evaluation-token evaluation))))
               (cond ((eq state :suspended)
                      (sb-thread:signal-semaphore (debuggee-wake (evaluation-debuggee evaluation)))
                      (in-own-thread "swank-mcp take-over"
                                     (lambda () (leave-when-gone evaluation connection)))
                      (format t "~&; In your debugger: ~A~%" (evaluation-line evaluation)))
                     ((eq state :person)
                      (format t "~&; It is in somebody's debugger already: ~A~%" (evaluation-line evaluation)))
                     (t (format t "~&; A command of the agent's is busy with it; try again: ~A~%"
                                (evaluation-line evaluation)))))))
    (values)))
