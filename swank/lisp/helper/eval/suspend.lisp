;;;; suspend.lisp -- suspended evaluations, which wait in the debugger

(cl:in-package #:swank-mcp)

;;; An evaluation that may be suspended runs on a thread of its own.  The session's thread waits
;;; until it has an outcome or is suspended.  Then it answers the bridge and is free for other
;;; evaluations.  A suspended evaluation waits for commands where its debugger hook was called,
;;; with the stack intact.  A command is a function that another thread hands over.  The suspended
;;; thread calls it; it returns an outcome, or leaves by a restart or to a frame.  Then the
;;; evaluation runs on, and the other thread waits for its outcome.
;;;
;;; Swank's debugger is not used: no level of it opens in anybody's Emacs, and no thread of
;;; Swank's is blocked.

(defparameter *max-suspended* 8
  "How many evaluations of one session may be suspended at once.")

;;; The evaluation's own thread

(defun deliver (evaluation state outcome)
  "Put EVALUATION in STATE, :SUSPENDED or :ENDED, and give OUTCOME to the client that waits for it, in
one step: a client that comes when STATE is known waits for another outcome.  If nobody waits and the
evaluation has ended, the next answer says so."
  (let ((debuggee (evaluation-debuggee evaluation)) (client nil))
    (sb-sys:without-interrupts          ; a stop in between would leave the client waiting
      (with-lock ()
        (setf (debuggee-state debuggee) state
              client (shiftf (debuggee-client debuggee) nil)))
      (when client
        (setf (client-outcome client) outcome)
        (sb-thread:signal-semaphore (client-news client))))
    (when (and (eq state :ended) (null client))
      (note-departed evaluation outcome))))

(defun await (client)
  (sb-thread:wait-on-semaphore (client-news client))
  (client-outcome client))

(defun suspended-for-wire (session)
  "((TOKEN AGE-IN-MICROSECONDS) ...), oldest first."
  (loop for evaluation in (reverse (suspended-evaluations session))
        collect (list (evaluation-token evaluation)
                      (- (microseconds) (debuggee-since (evaluation-debuggee evaluation))))))

;;; Restarts

(defun note-abort-restart (evaluation)
  "Remember the current ABORT restart of EVALUATION: the user does not see those beyond it."
  (let ((debuggee (evaluation-debuggee evaluation)))
    (when debuggee
      (setf (debuggee-abort-restart debuggee) (find-restart 'abort)))))

(defun restarts-within (condition last)
  (let* ((all (compute-restarts condition)) (end (position last all)))
    (if end (subseq all 0 (1+ end)) all)))

(defun wants-values-p (restart)
  "True if RESTART, invoked by a person, asks for values."
  (and (sbcl:restart-interactive-function restart) t))

(defun restart-for-wire (restart)
  (let ((name (restart-name restart)))
    (list (if name (symbol-name name) "")
          (clip (safely (princ-to-string restart)) 200)
          (wants-values-p restart))))

;;; Whether to suspend

(defun suspension-obstacle (evaluation condition)
  "Why EVALUATION cannot be suspended at CONDITION, or NIL."
  (cond ((typep condition 'storage-condition) "the stack or the heap is used up")
        (sbcl:*gc-inhibit* "garbage collection is off here")
        ((locks-held)
         (format nil "the code holds ~{~A~^ and ~}, for which all others would wait" (locks-held)))
        ((>= (length (suspended-evaluations (evaluation-session evaluation))) *max-suspended*)
         (format nil "~D evaluations are suspended already; end one of them first" *max-suspended*))))

(defvar *report-only-p* nil
  "A function that is true where an error is to be reported though others suspend; or NIL.")

(defun suspend (evaluation condition report frames)
  "Called in the debugger hook.  Suspend EVALUATION and do not return; or return NIL, or a note
that says why it cannot be suspended."
  (when (and (evaluation-debuggee evaluation)
             (not (and *report-only-p* (funcall *report-only-p*))))
    (let ((obstacle (suspension-obstacle evaluation condition)))
      (if obstacle
          (format nil "Not left in the debugger: ~A." obstacle)
          (park evaluation condition report frames)))))

;;; Suspended

(defun park (evaluation condition report frames)
  (let ((debuggee (evaluation-debuggee evaluation))
        (session (evaluation-session evaluation)))
    (note-packages session *packages-before*)
    (setf (debuggee-condition debuggee) condition
          (debuggee-report debuggee) report
          (debuggee-frames debuggee) frames
          (debuggee-restarts debuggee)
          (restarts-within condition (debuggee-abort-restart debuggee))
          (debuggee-since debuggee) (microseconds))
    (flush-process-output)
    (note-outcome evaluation :suspended report)
    (note-suspension evaluation :suspended report)
    (unwind-protect
         ;; commands are no part of the evaluation: the handlers of the user's code
         ;; must not see their errors
         (let ((sbcl:*handler-clusters* sbcl:**initial-handler-clusters**)
               (sbcl:*current-error-depth* 0)
               (sbcl:*stack-top-hint* nil))
           (deliver-suspended evaluation)
           (loop (serve-command evaluation)))
      (setf *packages-before* (list-all-packages))
      (with-lock () (setf (debuggee-state debuggee) :running))
      (note-outcome evaluation :running)
      (note-suspension evaluation :goes-on)
      (incf (debuggee-parked debuggee) (- (microseconds) (debuggee-since debuggee))))))

(defun stepping-p (debuggee)
  (typep (debuggee-condition debuggee) 'sb-ext:step-condition))

(defun deliver-suspended (evaluation &optional note)
  (let* ((debuggee (evaluation-debuggee evaluation))
         ;; an outcome that nobody waits for would lose what the next one is to tell
         (outcome (and (debuggee-client debuggee)
                       (outcome evaluation '() (copy-list (debuggee-report debuggee))
                                (and note (list note)) '()))))
    (deliver evaluation :suspended
          (list* :suspended (list :token (evaluation-token evaluation)
                                  :stepping (stepping-p debuggee)
                                  :restarts (mapcar #'restart-for-wire
                                                    (debuggee-restarts debuggee)))
                 outcome))))

(defun serve-command (evaluation)
  "Wait for a command and call it; the command may leave by a non-local exit."
  (let* ((client (wait-for-client evaluation))
         (outcome (funcall (client-command client) evaluation)))
    (if (eq outcome :again)
        (deliver-suspended evaluation)
        (deliver evaluation :suspended (list* :parked t outcome)))))

(defun wait-for-client (evaluation)
  "The next client.  If EVALUATION is to end, end it and do not return: a client that has just come
gets its outcome."
  (let* ((debuggee (evaluation-debuggee evaluation))
         (patience (* 1000 (debuggee-patience debuggee)))
         (end (+ (microseconds) patience)))
    (loop
      (with-lock ()
        (let ((client (debuggee-client debuggee)))
          (when client
            (setf (client-takenp client) t)
            (sb-thread:signal-semaphore (client-taken client))
            (unless (debuggee-ending debuggee)
              (return client)))
          (unless (debuggee-ending debuggee)
            (setf (debuggee-ending debuggee)
                  (cond ((>= (microseconds) end) :expired)
                        ((and (debuggee-connection debuggee)
                              (not (connectedp (debuggee-connection debuggee))))
                         :disconnected))))
          (when (debuggee-ending debuggee)
            (setf (debuggee-state debuggee) :running))))
      (when (debuggee-ending debuggee)
        (stop-here evaluation (debuggee-ending debuggee)))
      ;; in parts: only a part that took too long shows that a person had the thread
      (incf end (wait-for-command debuggee (max 1000 (min (floor patience 10) (- end (microseconds)))))))))

(defun wait-for-command (debuggee limit)
  "Wait for a command, at most LIMIT microseconds.  Return how many more it took because a person
had the thread in a debugger, or the machine stood still: these do not count."
  (let ((begun (microseconds)))
    (sb-thread:wait-on-semaphore (debuggee-wake debuggee) :timeout (/ limit 1000000))
    (max 0 (- (microseconds) begun limit))))

(defun end-suspended-of (connection)
  "End the suspended evaluations of CONNECTION, which has ended.  One that is suspended later ends
then."
  (dolist (evaluation (with-lock () (copy-list *evaluations*)))
    (let ((debuggee (evaluation-debuggee evaluation)))
      (when (and debuggee (eq connection (debuggee-connection debuggee)))
        (stop-suspended evaluation :disconnected)))))

(defun end-suspended (session)
  "End all suspended evaluations of SESSION; return texts about those that do not end."
  (let ((evaluations (suspended-evaluations session)))
    (dolist (evaluation evaluations) (interrupt-evaluation evaluation :reset))
    (dolist (evaluation evaluations)
      (await-state (lambda () (not (registeredp evaluation))) (evaluation-thread evaluation) 2000000))
    (loop for evaluation in evaluations
          when (registeredp evaluation)
            collect (format nil "a suspended evaluation ~:[runs cleanup forms still~;~
                                 is in somebody's debugger, a person's SLDB for one, and ends when that is left~]: ~A"
                            (suspendedp evaluation)
                            (clip (princ-to-string (evaluation-code evaluation)) 80)))))

;;; Commands from other threads

(defparameter *busy-patience* 8
  "For how many seconds that the evaluation can use a command waits for another one of it.")

(defun command (token function &optional limit)
  "Have the thread of the suspended evaluation TOKEN call FUNCTION with it; return the outcome, for
the wire.  LIMIT is the time in seconds for a FUNCTION that uses CALL-NESTED."
  (let ((client (make-client :command function)) (state nil) (evaluation nil))
    (when (find-shown-error token)
      (return-from command (list :absent :shown)))
    (flet ((handed-over-p ()
             (multiple-value-setq (state evaluation) (hand-over client token))
             (not (eq state :busy))))
      (unless (handed-over-p)
        (await-state #'handed-over-p (evaluation-thread evaluation) (* 1000000 *busy-patience*))))
    (cond ((eq state :suspended)
           (sb-thread:signal-semaphore (debuggee-wake (evaluation-debuggee evaluation)))
           (or (withdraw-unless-taken client evaluation)
               (if limit (await-within limit client evaluation) (await client))))
          (t (list :absent state)))))

(defun hand-over (client token)
  "Make CLIENT the one that the evaluation TOKEN serves, if that is suspended.  (VALUES STATE
EVALUATION), with the state before."
  (with-lock ()
    (let* ((evaluation (find token *evaluations* :key #'evaluation-token))
           (debuggee (and evaluation (evaluation-debuggee evaluation)))
           (state (if debuggee (debuggee-state debuggee) :ended)))
      (cond ((not (eq state :suspended)))
            ((debuggee-ending debuggee) (setf state :ended))
            ((debuggee-client debuggee) (setf state :busy))
            (t (setf (debuggee-state debuggee) :busy
                     (debuggee-client debuggee) client)))
      (values state evaluation))))

(defparameter *take-patience* 1000000
  "How many microseconds that an evaluation can use a command waits until it takes it.")

(defun withdraw-unless-taken (client evaluation)
  "NIL if EVALUATION has taken the command of CLIENT.  If somebody has its thread in a debugger,
withdraw the command and return an outcome that says so."
  (let ((debuggee (evaluation-debuggee evaluation)))
    (await-signal (client-taken client) (evaluation-thread evaluation) *take-patience*)
    (with-lock ()
      (when (and (eq client (debuggee-client debuggee)) (not (client-takenp client)))
        (setf (debuggee-client debuggee) nil)
        (cond ((eq :busy (debuggee-state debuggee))
               (setf (debuggee-state debuggee) :suspended)
               (list :absent :held))
              ;; somebody has let it go on
              (t (list :absent :running)))))))

(defun await-within (limit client evaluation)
  (let ((thread (evaluation-thread evaluation)))
    (flet ((answeredp () (await-signal (client-news client) thread (* 1000000 limit))))
      (loop repeat 2
            when (answeredp) return (client-outcome client)
            do (ignore-errors
                (interrupt-safely thread
                                  (lambda ()
                                    ;; this command may have ended, and another be there
                                    (when (eq client (debuggee-client (evaluation-debuggee evaluation)))
                                      (stop-nested evaluation)))))
            finally (return (if (answeredp) (client-outcome client) (list :absent :busy)))))))
