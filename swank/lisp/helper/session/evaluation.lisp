;;;; evaluation.lisp -- evaluations in progress, and those of them that are suspended

(cl:in-package #:swank-mcp)

(defstruct (evaluation (:copier nil))
  token                  ; integer from the bridge, increasing
  action                 ; its ACTION in the history, or NIL; see BEGIN-ACTION
  session code thread
  (caller '(nil "evaluate-lisp" nil)) ; see CALLER
  input                  ; text for its standard input, or NIL
  form (start 0)         ; the one being evaluated, and where it begins in CODE
  acts                   ; true if it may have changed the image; see looking.lisp
  allowed                ; true if the person was asked and has allowed it
  job                    ; true of one in the background; see background.lisp
  timedp                 ; true if its processor time is wanted
  system                 ; name of the one being loaded, or NIL
  work                   ; what is done in place of evaluating CODE, and
  report                 ; a function that returns the :REPORT of its answer; see perform.lisp
  restore                ; the RESTORING, or NIL, and
  (failures '())         ; what failed of it; see restore-entries.lisp
  (journal '())          ; entries made, newest first
  (loaded '())           ; of systems loaded: (NAME FILE ...)
  (losses '())           ; (KEY-TEXT WHY) of definitions without source
  debuggee               ; of one that may be suspended; see suspend.lisp
  frame                  ; of a suspended one, in which this one evaluates
  nested                 ; evaluation of arguments in the debugger, or NIL
  (records '())          ; of warnings; see warnings.lisp
  origin                 ; file that defines the system it is about, or NIL
  built                  ; text on which of the system's files were compiled, or NIL
  (remarks '())          ; for the reply, newest first
  (replaced '())         ; definitions of somebody else's; see replaced.lisp
  (started (microseconds))       ; see MICROSECONDS
  (heap-base 0)                  ; bytes in the heap then; see heap-limit.lisp
  (out (make-sink)) (err (make-sink))
  waits                  ; text on a lock that it waited for when it was stopped; see locks.lisp
  (activep nil)          ; true while ESCAPE may be called
  escape                 ; function of a report: ends the evaluation with it
  early-stop)            ; reason of a stop that came before ACTIVEP

(defvar *evaluations* '()
  "The evaluations in progress.")

(defvar *early-stops* '()
  "(TOKEN REASON SESSION-NAME) of each stop that came before its evaluation.")

(defvar *evaluation* nil
  "The evaluation of the current thread, or NIL.")

;;; What the person wants to be asked; see people/allow.lisp

(defvar *ask-person* nil
  "A function of an evaluation, and of what it redefines or NIL: a report that the person does not
allow that, or NIL.  Or NIL if they are not to be asked.")

(defvar *ask-always* nil
  "True if they are to be asked before each evaluation.")

(defun policy ()
  "What agents may do without the person's yes: \"everything\", \"new\" or \"nothing\"; see ALLOW."
  (cond ((null *ask-person*) "everything")
        (*ask-always* "nothing")
        (t "new")))

(defun forbidden-report (evaluation &optional what)
  "A report that EVALUATION is not allowed, if the person has to be asked; or NIL.  They are not asked
whether definitions may be brought back that they have allowed before."
  (when (and *ask-person* (or what (and *ask-always* (evaluation-action evaluation)))
             (not (evaluation-allowed evaluation)))
    (or (funcall *ask-person* evaluation what)
        (progn (setf (evaluation-allowed evaluation) t)
               nil))))

;;; In the history

(defun begin-action (evaluation)
  "Enter EVALUATION into the history, unless it is one of the helper's own or a thread of the
program.  *LOCK* is held."
  (when (and (plusp (evaluation-token evaluation)) (not (evaluation-restore evaluation)))
    (let ((session (evaluation-session evaluation)) (caller (evaluation-caller evaluation)))
      (setf (evaluation-action evaluation)
            (add-action (make-action :token (evaluation-token evaluation)
                                     :began (get-universal-time)
                                     :client (first caller) :tool (second caller)
                                     :session (session-name session)
                                     :code (code-for-people (or (evaluation-system evaluation)
                                                                (evaluation-code evaluation))
                                                            (action-limit :code))))))))

(defun end-action (evaluation texts report)
  "Enter what EVALUATION, which has ended, has come to: TEXTS of its values, or REPORT."
  (let ((action (evaluation-action evaluation)))
    (when action
      (setf (action-microseconds action)
            (- (microseconds) (evaluation-started evaluation) (parked-time evaluation))
            (action-out action) (clipped (sink-text (evaluation-out evaluation)) (action-limit :out))
            (action-err action) (clipped (sink-text (evaluation-err evaluation)) (action-limit :err))
            (action-values action) (and (not report)
                                        (loop for text in texts
                                              repeat 20
                                              collect (clipped text (action-limit :value)))))
      (note-outcome evaluation (if report (getf report :kind) :done) report)
      (note-echo :ended action))))

(defun note-outcome (evaluation state &optional report)
  "Note that EVALUATION is in STATE, as REPORT says; with T it runs on."
  (let ((action (evaluation-action evaluation)))
    (when action
      (setf (action-state action) state
            (action-type action) (getf report :type)
            (action-message action) (let ((message (getf report :message)))
                                      (and message (clip message (action-limit :message)))))
      (with-lock ()
        (when (keptp action) (measure-action action))))))

(defun note-suspension (evaluation what &optional report)
  "Have it shown that EVALUATION is suspended with REPORT, or goes on."
  (when (evaluation-action evaluation)
    (note-echo what (evaluation-action evaluation) (getf report :type) (getf report :message))))

(defun leave-action (evaluation)
  "Note that EVALUATION is not in progress any more."
  (let ((action (evaluation-action evaluation)))
    (when (and action (member (action-state action) '(:running :suspended)))
      (setf (action-state action) :lost)
      (note-echo :ended action))))

(defun evaluation-number (evaluation)
  "The number by which people know EVALUATION, or NIL."
  (let ((action (evaluation-action evaluation)))
    (and action (action-number action))))

(defun unregister (evaluation)
  (with-lock ()
    (setf *evaluations* (remove evaluation *evaluations*))))

(defun registeredp (evaluation)
  (with-lock () (member evaluation *evaluations*)))

(defun find-evaluation (token)
  (with-lock ()
    (find token *evaluations* :key #'evaluation-token)))

(defun others-work-p (session)
  "True while something is evaluated in another session."
  (with-lock ()
    (find session *evaluations* :key #'evaluation-session :test-not #'eq)))

(defun defining-elsewhere-p (session)
  "True while another thread evaluates for SESSION.  It notes a definition a moment before it
makes it."
  (with-lock ()
    (find-if (lambda (evaluation)
               (and (eq session (evaluation-session evaluation))
                    (not (eq (swank/backend:current-thread) (evaluation-thread evaluation)))
                    (not (suspendedp evaluation))))
             *evaluations*)))

;;; Suspended ones, which wait in the debugger: see suspend.lisp

(defstruct (debuggee (:copier nil))
  "What an EVALUATION needs to be suspended."
  (state :running)       ; :RUNNING, :SUSPENDED, :BUSY with a command, :PERSON while one has it in
                         ; their debugger, or :ENDED
  personp                ; true if a person has taken it over; see people/take-over.lisp
  (client nil)           ; the CLIENT that waits for its outcome
  #+sbcl (wake (sb-thread:make-semaphore)) ; signalled when there is something to do
  (ending nil)           ; reason why it is to end
  (patience 600000)      ; milliseconds it may wait for a command
  connection             ; of Swank, that of the bridge
  (since 0) (parked 0)   ; microseconds: when it was suspended, for how long in all
  condition report frames
  (restarts '()) abort-restart) ; those to choose from; the last of them

(defstruct (client (:copier nil))
  "A thread that waits for an outcome; COMMAND is a function for the suspended thread to call."
  command outcome
  takenp                                ; true when the evaluation has begun with it
  #+sbcl (taken (sb-thread:make-semaphore)) ; signalled then
  #+sbcl (news (sb-thread:make-semaphore)))

(defun suspendedp (evaluation)
  (let ((debuggee (evaluation-debuggee evaluation)))
    (and debuggee (member (debuggee-state debuggee) '(:suspended :busy :person)) t)))

(defun suspended-evaluations (session)
  (with-lock ()
    (remove-if-not (lambda (evaluation)
                     (and (eq session (evaluation-session evaluation))
                          (suspendedp evaluation)))
                   *evaluations*)))

(defun parked-time (evaluation)
  (let ((debuggee (evaluation-debuggee evaluation)))
    (if debuggee (debuggee-parked debuggee) 0)))

;;; A thread that a session's code has started may be suspended, too.  It counts as an evaluation,
;;; with a negative token that the image gives it: see suspended-threads.lisp

(defun thread-of-program-p (evaluation)
  (minusp (evaluation-token evaluation)))

(defun suspended-threads-for-wire (session)
  "((TOKEN WHAT TYPE MESSAGE) ...), oldest first; with the errors that a person shows."
  (append (shown-errors-for-wire) (threads-of-session-for-wire session)))

(defun shown-errors-for-wire ()
  (loop for shown in (reverse (and *shown-errors* (live-shown-errors)))
        for report = (shown-error-report shown)
        collect (list (shown-error-token shown) "the person's error" (getf report :type)
                      (clip (getf report :message) 1000))))

(defun threads-of-session-for-wire (session)
  (loop for evaluation in (reverse (suspended-evaluations session))
        for report = (debuggee-report (evaluation-debuggee evaluation))
        when (thread-of-program-p evaluation)
          collect (list (evaluation-token evaluation) (evaluation-code evaluation)
                        (getf report :type) (clip (getf report :message) 1000))))

;;; The report of an evaluation: see perform.lisp

(defun report-with (evaluation function)
  "Have the answer of EVALUATION carry what FUNCTION returns when it has ended."
  (setf (evaluation-report evaluation) function))

(defun work-report (evaluation)
  (and (evaluation-report evaluation)
       (funcall (evaluation-report evaluation))))

(defun refuse (type message &optional advice)
  "End the current evaluation with an error that has no backtrace.  ADVICE is a plist that is added
to the report."
  (funcall (evaluation-escape *evaluation*) (append (failure type message) advice)))
