;;;; evaluation.lisp -- evaluations in progress, and those of them that are suspended

(cl:in-package #:swank-mcp)

(defstruct (evaluation (:copier nil))
  token                  ; integer from the bridge, increasing
  number                 ; by which people know it, or NIL; see NUMBER-EVALUATION
  session code thread
  input                  ; text for its standard input, or NIL
  form (start 0)         ; the one being evaluated, and where it begins in CODE
  job                    ; true of one in the background; see background.lisp
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

(defvar *last-number* 0
  "The number of the evaluation that was numbered last.")

(defun number-evaluation (evaluation)
  "Number EVALUATION among all of this image, unless it is one of the helper's own or a thread of
the program."
  (when (plusp (evaluation-token evaluation))
    (setf (evaluation-number evaluation) (incf *last-number*))))

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
  (state :running)       ; :RUNNING, :SUSPENDED, :BUSY with a command, or :ENDED
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
    (and debuggee (member (debuggee-state debuggee) '(:suspended :busy)) t)))

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
  "((TOKEN WHAT TYPE MESSAGE) ...), oldest first."
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
