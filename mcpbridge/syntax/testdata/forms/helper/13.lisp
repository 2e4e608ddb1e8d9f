
(defstruct (evaluation (:copier nil))
  token                  ; integer from the bridge, increasing
  action                 ; its ACTION in the history, or NIL; see BEGIN-ACTION
  session code thread
  (caller '(nil "evaluate-lisp" nil)) ; see CALLER
  input                  ; text for its standard input, or NIL
  form (start 0)         ; the one being evaluated, and where it begins in CODE
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
  (orphans '())          ; definitions that no file has any more; see orphans.lisp
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
;;;; guests.lisp -- the bridges that are attached to an image that is somebody's

(cl:in-package #:swank-mcp)

(defstruct (guest (:constructor make-guest (connection bridge)) (:copier nil))
  connection bridge (threads '())
  name                                  ; client's name and version
  client                                ; by which people know it; see NAME-GUEST
  (sessions '()) (news '()))            ; see joining.lisp

(defvar *guests* '()
  "A GUEST for each bridge that is attached, or that has left threads behind.")

(defvar *image-id* (format nil "~36R" (random (expt 36 12) (make-random-state t)))
  "Tells this image from one that is started at the same address later.")

(defvar *paused* nil
  "True while evaluations of bridges that would begin are refused; see people/pause.lisp.")

(defun find-guest (connection)
  (with-lock () (find connection *guests* :key #'guest-connection)))

(defun note-guest-thread (connection thread)
  "A no-op in an image that was launched, where the threads end with the image."
  (let ((guest (find-guest connection)))
    (when guest
      (with-lock ()
        (setf (guest-threads guest)
              (cons thread (remove-if-not #'swank/backend:thread-alive-p
                                          (guest-threads guest))))))))

(defun control-thread (connection)
  "Swank's thread that lives as long as CONNECTION; NIL without threads."
  (and (typep connection 'swank::multithreaded-connection)
       (swank::mconn.control-thread connection)))

(defun connectedp (connection)
  "True until CONNECTION has ended."
  (let ((thread (control-thread connection)))
    (if thread
        (swank/backend:thread-alive-p thread)
        (member connection swank::*connections*))))

;;; Swank's sentinel puts a connection into the list of connections a moment after that has begun to
;;; serve.  On a busy machine the moment is long enough for a whole evaluation, whose questions would
;;; be told to nobody.
(defun await-own-connection ()
  "Return when Swank has this thread's connection in its list: after two seconds at the latest."
  (let ((connection (own-connection)))
    (when (control-thread connection)
      (loop repeat 2000
            until (member connection swank::*connections*)
            do (sleep 0.001)))))

(defun tell-bridges (control &rest arguments)
  "Send a message to every bridge, which reads its first word; see swank/lisp/people.go."
  (let ((text (format nil "swank-mcp ~?" control arguments)))
    (dolist (connection (if *launched*
                            swank::*connections*
                            (with-lock () (mapcar #'guest-connection *guests*))))
      (let ((thread (control-thread connection)))
        (when (and thread (connectedp connection))
          (ignore-errors (swank/backend:send thread (list :background-message text))))))))

(defun await-end (connection)
  "Return when CONNECTION has ended."
  (let ((thread (control-thread connection)))
    #+sbcl (sb-thread:join-thread thread :default nil)
    #-sbcl (loop while (swank/backend:thread-alive-p thread) do (sleep 1))))

(defun in-own-thread (name function)
  (swank/backend:spawn function :name name))

(defun own-guest () (guest-of *evaluation*))

(defun guest-of (evaluation)
  "The guest whose request this thread serves, for EVALUATION or without one."
  (let ((connection (or (own-connection)
                        (let ((debuggee (and evaluation (evaluation-debuggee evaluation))))
                          (and debuggee (debuggee-connection debuggee))))))
    (and connection (find-guest connection))))

(defun name-guest (guest name)
  "Note that the client of GUEST has that NAME.  Where another one has it, too, people know it as
NAME #2."
  (unless (equal name (guest-name guest))
    (let ((others (with-lock () (remove guest *guests*))) (short (on-one-line (clip name 60))))
      (setf (guest-name guest) name
            (guest-client guest)
            (loop for number from 1
                  for text = (if (= number 1) short (format nil "~A #~D" short number))
                  unless (find-if (lambda (other)
                                    (and (equal text (guest-client other))
                                         (not (equal (guest-bridge guest) (guest-bridge other)))
                                         (connectedp (guest-connection other))))
                                  others)
                    return text)))))

;;; For whom calls are

(defvar *caller* nil
  "CALLER of the call that this thread carries out and that names it; or NIL.  Calls of a session that
come meanwhile on other threads may be for others.")

(defun caller (session &optional (guest (own-guest)))
  "(CLIENT TOOL PERSONP): for whom and by which tool the calls of GUEST in SESSION are, and whether they
are a person's."
  (or *caller* (rest (assoc guest (session-callers session))) '(nil "evaluate-lisp" nil)))

(defun client-of-caller (session)
  "By whom the current request is, as people know it; or NIL."
  (let ((guest (own-guest)))
    (if guest (guest-client guest) (first (caller session nil)))))

(defun call-by (personp session client tool function arguments)
  (let ((session (ensure-session session)) (guest (own-guest)))
    (when (and guest (not personp))
      (name-guest guest client)
      (setf client (guest-client guest)))
    (with-lock ()
      (setf (session-callers session)
            (cons (list guest client tool personp)
                  (remove-if-not (lambda (other) (and (not (eq other guest)) (member other *guests*)))
                                 (session-callers session) :key #'first))))
    (let ((*caller* (list client tool personp)))
      (apply (find-symbol (symbol-name function) '#:swank-mcp) arguments))))

(defun by (session client tool function &rest arguments)
  "Call FUNCTION, a keyword, of the helper's for CLIENT and TOOL, as are the calls of this bridge
in SESSION that follow, until it names another."
  (call-by nil session client tool function arguments))

(defun by-person (session client tool function &rest arguments)
  "BY for a person who works in the session of an agent, and needs nobody's permission."
  (call-by t session client tool function arguments))

(defun other-guests (name)
  "The guests that work in the session NAME, but for the one that asks."
  (let ((own (own-guest)))
    (with-lock ()
      (remove-if-not (lambda (guest)
                       (and (not (eq guest own))
                            (member name (guest-sessions guest) :test #'string=)
                            (connectedp (guest-connection guest))))
                     *guests*))))

(defun tell-others (name text)
  "Have the other guests in the session NAME told TEXT with their next reply."
  (dolist (guest (other-guests name))
    (with-lock ()
      (unless (member text (guest-news guest) :test #'string=)
        (push text (guest-news guest))))))

(defun take-guest-news ()
  (let ((guest (and *guests* (own-guest))))
    (and guest (guest-news guest)
         (with-lock () (reverse (shiftf (guest-news guest) '()))))))
;;;; history.lisp -- what agents have done in this image, for the person who shares it

(cl:in-package #:swank-mcp)

;;; Each evaluation that a client has asked for is an action, and so is a reset.  An action has the
;;; evaluation's number.  The newest are kept, in a vector of fixed size and with a bound on their
;;; text.  people/history.lisp shows them.

