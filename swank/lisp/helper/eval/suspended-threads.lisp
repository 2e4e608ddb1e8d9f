;;;; suspended-threads.lisp -- threads of the program that wait in the debugger

(cl:in-package #:swank-mcp)

;;; A thread that was started by an evaluation that may be suspended waits in the debugger, too,
;;; at an error that nobody handles.  For the commands of the debugger it is an evaluation.  When a
;;; command has let it go on, the command is done: a thread may go on for ever.

(defvar *thread-debugging* nil
  "(PATIENCE CONNECTION), as of a DEBUGGEE, in a thread that is to wait in the debugger; or NIL.")

(defun thread-debugging ()
  "The value of *THREAD-DEBUGGING* for a thread that is started here."
  (let ((debuggee (and *evaluation* (evaluation-debuggee *evaluation*))))
    (if debuggee
        (list (debuggee-patience debuggee) (debuggee-connection debuggee))
        *thread-debugging*)))

(defun suspended-threads (&optional (session "default"))
  "Answer SUSPENDED-THREADS-FOR-WIRE of SESSION."
  (answer (suspended-threads-for-wire (ensure-session session))))

(defvar *thread-token* 0
  "The token that was given to a thread last.")

(defun new-thread-token ()
  "A negative integer that no image has used before."
  (with-lock ()
    (setf *thread-token* (min (1- *thread-token*) (- (* 1000 (get-universal-time)))))))

(defun thread-as-evaluation (session)
  "This thread of the program as an evaluation of SESSION."
  (make-evaluation :token (new-thread-token) :session session
                   :thread sb-thread:*current-thread*
                   :code (format nil "~:[a thread without a name~;the thread ~:*~S~]"
                                 (and (sb-thread:thread-name sb-thread:*current-thread*)
                                      (thread-label sb-thread:*current-thread*)))))

(defun suspend-thread (evaluation condition report frames abort)
  "Have this thread of the program, which EVALUATION stands for, wait in the debugger at CONDITION.
Its last restart is ABORT.  Return, with the reason, only if it cannot wait."
  (let ((obstacle (suspension-obstacle evaluation condition)))
    (when obstacle (return-from suspend-thread obstacle)))
  (destructuring-bind (patience connection) *thread-debugging*
    (let ((debuggee (make-debuggee :patience patience :connection connection :abort-restart abort))
          (end nil)
          (*packages-before* (list-all-packages)))
      (setf (evaluation-debuggee evaluation) debuggee
            (evaluation-escape evaluation) (lambda (report)
                                             (setf end report)
                                             (sb-thread:abort-thread)))
      (with-lock () (push evaluation *evaluations*))
      (unwind-protect
           (call-stoppably evaluation (lambda () (park evaluation condition report frames)))
        (unregister evaluation)
        (deliver evaluation :ended
                 (if (debuggee-client debuggee)
                     (outcome evaluation '() end
                              (and (null end) (list "The thread goes on.")) '())
                     (list :error (for-wire (or end (failure "ABORTED" "The thread has left the debugger: it goes on, or was ended."))))))))))
