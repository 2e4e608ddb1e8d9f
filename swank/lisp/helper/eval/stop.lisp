;;;; stop.lisp -- ending an evaluation from outside

(cl:in-package #:swank-mcp)

;;; A stop interrupts the evaluating thread, which leaves the evaluation by a non-local exit.  No
;;; condition is signalled, so no handler of the user's can swallow it.  Cleanup forms run; a
;;; second stop leaves a cleanup that hangs.  An interrupt that comes too late must do nothing, so
;;; ACTIVEP is cleared with interrupts off, however the evaluation ends.

(defun call-stoppably (evaluation function)
  #+sbcl
  (sb-sys:without-interrupts
    (unwind-protect
         (sb-sys:with-local-interrupts
           (setf (evaluation-activep evaluation) t)
           (when (evaluation-early-stop evaluation)
             (stop-here evaluation (evaluation-early-stop evaluation)))
           (funcall function))
      (setf (evaluation-activep evaluation) nil)))
  #-sbcl
  (unwind-protect
       (progn (setf (evaluation-activep evaluation) t)
              (funcall function))
    (setf (evaluation-activep evaluation) nil)))

(defun stop-here (evaluation reason)
  "Called in the thread of EVALUATION: end it with a report of REASON, if it still runs.  If it
evaluates arguments in the debugger, end only these."
  (let* ((nested (evaluation-nested evaluation))
         (evaluation (if (and nested (evaluation-activep nested)) nested evaluation)))
    (when (evaluation-activep evaluation)
      (funcall (evaluation-escape evaluation) (stop-report evaluation reason)))))

(defun heap-text (what)
  "What a report says of WHAT, which was ended because of the heap."
  (format nil "The heap is nearly exhausted: ~:D MB are live, and of its ~:D MB a garbage collection ~
               may need the rest to copy into. ~A was ended; what only it held is garbage."
          (floor (heap-used) 1000000) (floor (heap-size) 1000000) what))

(defun stop-report (evaluation reason)
  (multiple-value-bind (frames total) (stopped-frames evaluation)
    (append (ecase reason
              ((:timeout :cancelled :stopped)
               (list :kind reason :type "" :message (or (evaluation-waits evaluation) "")))
              (:heap (list :kind :error :type "STORAGE-CONDITION" :message (heap-text "The evaluation")))
              ((:reset :expired :disconnected)
               (list :kind :error :type "ABORTED"
                     :message (ecase reason
                                (:reset "reset-session ended it.")
                                (:expired "It was suspended for too long.")
                                (:disconnected "The bridge has gone.")))))
            (frames-for-wire frames (or total 0)))))

(defun stopped-frames (evaluation)
  "COLLECT-FRAMES; if there are no user frames, the form itself."
  (let ((package (session-package (evaluation-session evaluation))))
    (multiple-value-bind (frames total) (ignore-errors (collect-frames *kept-frames* package))
      (cond (frames (values frames total))
            ((users-form-p (evaluation-form evaluation))
             (values (list (show-form (evaluation-form evaluation) package)) 1))))))

(defun stop-evaluation (token reason &optional (session "default"))
  "End the evaluation TOKEN of SESSION with a report of REASON, :TIMEOUT, :CANCELLED or :STOPPED.  Answer
the system's number of its thread, or T, if it is in progress; if it has not begun, it ends as soon as it
does, and the answer is NIL.  Called on another thread than the evaluation's."
  (let ((evaluation
          (with-lock ()
            (let ((found (find token *evaluations* :key #'evaluation-token)))
              (if found
                  ;; it may not be at the point yet where it can be interrupted
                  (setf (evaluation-early-stop found) reason)
                  (push (list token reason session) *early-stops*))
              found))))
    (when evaluation
      (interrupt-evaluation evaluation reason))
    (answer (and evaluation
                 (or (thread-system-number (evaluation-thread evaluation)) t)))))

(defun stop-suspended (evaluation reason)
  "End EVALUATION and return true if it waits for a command.  If a person has it in a debugger it
ends when they leave that.  A command that is under way ends by an interrupt; where REASON is about the
whole evaluation, that ends after it."
  (let ((debuggee (evaluation-debuggee evaluation)))
    (when debuggee
      (with-lock ()
        (let ((client (debuggee-client debuggee)))
          (cond ((eq (debuggee-state debuggee) :person)
                 (setf (debuggee-ending debuggee) reason))
                ((and (eq (debuggee-state debuggee) :suspended) (null client))
                 (setf (debuggee-ending debuggee) reason)
                 #+sbcl (sb-thread:signal-semaphore (debuggee-wake debuggee))
                 t)
                ((and client (client-command client))
                 (when (member reason '(:reset :stopped))
                   (setf (debuggee-ending debuggee) reason))
                 ;; the command itself gives up within a second
                 (not (client-takenp client)))))))))

(defun interrupt-evaluation (evaluation reason)
  (unless (stop-suspended evaluation reason)
    (unless (evaluation-waits evaluation)
      (setf (evaluation-waits evaluation)
            (ignore-errors (lock-advice (evaluation-thread evaluation)))))
    (ignore-errors                      ; the thread may have ended meanwhile
     (interrupt-safely (evaluation-thread evaluation)
                       (lambda ()
                         ;; it may have been suspended meanwhile, and somebody told so
                         (unless (stop-suspended evaluation reason)
                           (stop-here evaluation reason)))))))

(defun stop-nested (evaluation)
  (let ((nested (evaluation-nested evaluation)))
    (when (and nested (evaluation-activep nested))
      (funcall (evaluation-escape nested) (stop-report nested :timeout)))))

(defun peek-output (token out-position err-position limit)
  "Answer what the evaluation TOKEN has printed since those positions, at most LIMIT characters of
each stream: (OUT-POSITION OUT ERR-POSITION ERR); NIL if it is not in progress."
  (let ((evaluation (find-evaluation token)))
    (answer
     (when evaluation
       (multiple-value-bind (out out-position)
           (sink-since (evaluation-out evaluation) out-position limit)
         (multiple-value-bind (err err-position)
             (sink-since (evaluation-err evaluation) err-position limit)
           (list out-position out err-position err)))))))
