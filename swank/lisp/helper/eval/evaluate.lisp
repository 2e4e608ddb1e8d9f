;;;; evaluate.lisp -- EVALUATE: an evaluation as a whole, and its answer

(cl:in-package #:swank-mcp)

(defun evaluate (code &key (session "default") (token 0) package (debug 1) patience input
                        job timedp)
  "Read and evaluate the forms of CODE in SESSION, with PACKAGE (a name, or NIL
for the session's) and DEBUG quality 0 to 3.  The code reads INPUT, a string, and then is at end
of file.  With JOB it is one in the background.  TOKEN names the evaluation for STOP-EVALUATION.  With PATIENCE an error leaves it suspended for as many
milliseconds; see suspend.lisp.  The answer is a plist:

  :VALUES   (TEXT ...) the last form's values, printed
  :ERROR    NIL or (:KIND :ERROR | :TIMEOUT | :CANCELLED | :STOPPED :TYPE :MESSAGE :FRAMES :MORE)
  :STDOUT :STDERR   NIL or TEXT
  :WARNINGS see RECORDS-FOR-WIRE   :NOTES (TEXT ...)
  :PACKAGE  name of the session's package afterwards
  :COSTS    (REAL RUN GC BYTES), times in microseconds; RUN is 0 without TIMEDP
  :JOURNAL  ((KEYS TEXT PACKAGE MILLISECONDS RUNSP BRIDGEP ORDER) ...) what it, and jobs that run,
            defined; see journal.lisp, and for what is the BRIDGE's own bridge-definitions.lisp
  :GONE     (KEY ...) of what is undefined now
  :LOADED   ((NAME FILE ...) ...) systems that it loaded; see UNFINDABLE-FILES
  :LOST     ((KEY WHY) ...) of what it defined that has no source to evaluate again
  :REDEFINED  (NUMBER TOKEN (LABEL BEFORE AFTER) ...): see REDEFINED-FOR-WIRE
  :SYSTEM   the name of the system that was to be loaded
  :ORIGIN   the file that defines the system that was loaded or tested
  :BUILT    which of its files were compiled, and how many were up to date
  :LOOKED   true if it has surely changed nothing; see looking.lisp

TEXT is (HEAD), or (HEAD TAIL OMITTED) for a longer one; what is NIL is left out."
  (let ((evaluation (make-evaluation :token token :session (ensure-session session) :code code
                                     :input input :job job :timedp timedp)))
    (call-registered evaluation package debug patience)))

(defun call-registered (evaluation package debug &optional patience)
  ;; Here, as it may go on in another thread.
  (setf (evaluation-caller evaluation) (caller (evaluation-session evaluation)))
  #+sbcl
  (when *launched*
    (flet ((owner (stream)
             (with-standard-io-syntax (format nil "~D ~A" (evaluation-token evaluation) stream))))
      (setf (sink-owner (evaluation-out evaluation)) (owner "out")
            (sink-owner (evaluation-err evaluation)) (owner "err"))))
  (answer (cond ((pausedp (evaluation-session evaluation)) (list :absent :paused))
                (patience (outcome-in-own-thread evaluation package debug patience))
                (t (registered-outcome evaluation package debug)))))

(defun pausedp (session)
  "True if an evaluation in SESSION that the bridge has sent before it knew of a pause is to be refused:
in a launched image there is one bridge, which keeps the pause.  A person's own is not."
  (and *paused* (not *launched*) (not (third (caller session)))))

(defun call-as-work (function &key code session token package (debug 1) patience)
  "Call FUNCTION as an evaluation of the session named SESSION and answer like
EVALUATE.  CODE, a string or a form, is what others are told is running.  FUNCTION
gets the evaluation and a function of a text that reads the one form in it; the
list that it returns are the evaluation's values."
  (call-registered (make-evaluation :token token :session (ensure-session session)
                                    :code code :work function)
                   package debug patience))

(defun register (evaluation)
  (note-heap-base evaluation)           ; before anybody compares with it: this may collect
  (with-lock ()
    (let ((token (evaluation-token evaluation))
          (name (session-name (evaluation-session evaluation))))
      (setf (evaluation-early-stop evaluation) (second (assoc token *early-stops*))
            *early-stops* (remove-if (lambda (entry)
                                       (and (<= (first entry) token)
                                            (equal (third entry) name)))
                                     *early-stops*))
      (begin-action evaluation)
      (when (third (evaluation-caller evaluation))
        (setf (evaluation-allowed evaluation) t))
      (push evaluation *evaluations*)))
  (ensure-guest-watch))

(defun registered-outcome (evaluation package debug)
  (let ((session (evaluation-session evaluation)) (*break-on-signals* nil))
    (setf (evaluation-thread evaluation) (swank/backend:current-thread)
          (session-used session) t)
    (register evaluation)
    (unwind-protect
         (multiple-value-bind (default note) (live-package session)
           (let ((package (if package (or (package-seen-from session package) package) default)))
             (if (packagep package)
                 (or (forbidden-outcome evaluation package)
                     (evaluation-outcome evaluation package debug note))
                 (let ((outcome (unknown-package-outcome session package)))
                   (note-place-of-action evaluation (session-package session))
                   (end-action evaluation '() (getf outcome :error))
                   outcome))))
      (unregister evaluation)
      (leave-action evaluation))))

(defun note-place-of-action (evaluation package)
  (let ((action (evaluation-action evaluation)))
    (when action
      (setf (action-package action) (package-name package))
      (note-echo :begun action))))

(defun forbidden-outcome (evaluation package)
  "The outcome of EVALUATION if the person has to be asked, and does not allow it; or NIL."
  (let ((report (forbidden-report evaluation)))
    (when report
      (note-place-of-action evaluation package)
      (end-action evaluation '() report)
      (list :error (for-wire report)
            :package (package-name (live-package (evaluation-session evaluation)))))))

(defun unknown-package-outcome (session name)
  (list :error (append (failure "PACKAGE-ERROR" (unknown-package-text name))
                       (let ((meant (meant-package name)))
                         (and meant (list :instead (list name meant)))))
        :package (package-name (session-package session))))

(defun evaluation-outcome (evaluation package debug note)
  (note-place-of-action evaluation package)
  (let ((before (costs (evaluation-timedp evaluation))))
    (multiple-value-bind (texts report notes)
        (let ((*evaluation* evaluation)) (perform evaluation package debug))
      (let ((costs (mapcar #'- (costs (evaluation-timedp evaluation)) before)))
        (decf (first costs) (parked-time evaluation))
        (close-sink (evaluation-out evaluation))
        (close-sink (evaluation-err evaluation))
        (flush-process-output)
        (when note (push note notes))
        (prog1 (outcome evaluation texts report notes costs)
          (end-action evaluation texts report))))))

;;; The thread of an evaluation that may be suspended

#-sbcl
(defun outcome-in-own-thread (evaluation package debug patience)
  "Nothing can be suspended here: errors are reported."
  (declare (ignore patience))
  (registered-outcome evaluation package debug))

#+sbcl
(defun outcome-in-own-thread (evaluation package debug patience)
  "What comes of EVALUATION, which waits at most PATIENCE milliseconds for a command."
  (let* ((client (make-client))
         (debuggee (make-debuggee :patience patience :client client
                                  :connection (own-connection))))
    (setf (evaluation-debuggee evaluation) debuggee)
    (note-guest-thread
     (debuggee-connection debuggee)
     (swank/backend:spawn
      (lambda ()
        (let ((outcome (list :error (for-wire (failure "ABORTED" "Its thread was ended.")))))
          (unwind-protect
               (setf outcome (registered-outcome evaluation package debug))
            (deliver evaluation :ended outcome)))
        (protect-control-stack))
      :name (format nil "swank-mcp evaluation ~D" (evaluation-token evaluation))))
    (await client)))
