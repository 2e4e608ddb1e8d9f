;;;; evaluate.lisp -- EVALUATE: an evaluation as a whole, and its answer

(cl:in-package #:swank-mcp)

(defun flush-process-output ()
  "Push out what went past our streams to the process' own, Lisp's and C's."
  #+sbcl
  (when *launched*
    (ignore-errors (finish-output sb-sys:*stdout*))
    (ignore-errors (finish-output sb-sys:*stderr*))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "fflush" (function sb-alien:int sb-alien:unsigned-long)) 0)))

(defun microseconds ()
  "The time of day; GET-INTERNAL-REAL-TIME of SBCL ticks only every 4 ms."
  #+sbcl (multiple-value-bind (seconds microseconds) (sb-ext:get-time-of-day)
           (+ (* 1000000 seconds) microseconds))
  #-sbcl (floor (* 1000000 (get-internal-real-time)) internal-time-units-per-second))

(defun bytes-consed ()
  #+sbcl (sb-ext:get-bytes-consed) #-sbcl 0)

(defun costs ()
  "Clocks and counters, for differences; times in microseconds."
  (flet ((us (units) (floor (* 1000000 units) internal-time-units-per-second)))
    (list (microseconds)
          (us (get-internal-run-time))
          #+sbcl (us sb-ext:*gc-run-time*) #-sbcl 0
          (bytes-consed))))

(defun costs-since (before)
  (mapcar #'- (costs) before))

(defun evaluate (code &key (session "default") (token 0) package (debug 1) patience)
  "Read and evaluate the forms of CODE in SESSION, with PACKAGE (a name, or NIL
for the session's) and DEBUG quality 0 to 3.  TOKEN names the evaluation for
STOP-EVALUATION.  With PATIENCE an error leaves it suspended for as many
milliseconds; see suspend.lisp.  The answer is a plist:

  :VALUES   (TEXT ...) the last form's values, printed
  :ERROR    NIL or (:KIND :ERROR | :TIMEOUT | :CANCELLED :TYPE :MESSAGE :FRAMES :MORE)
  :STDOUT :STDERR   NIL or TEXT
  :WARNINGS ((LABEL TEXT) ...)   :NOTES (TEXT ...)
  :PACKAGE  name of the session's package afterwards
  :COSTS    (REAL RUN GC BYTES), times in microseconds
  :JOURNAL  ((KEYS TEXT PACKAGE MILLISECONDS RUNSP BRIDGEP) ...) what it defined; see journal.lisp,
            and for what is the BRIDGE's own guarded.lisp
  :GONE     (KEY ...) of what is undefined now
  :LOADED   ((NAME FILE ...) ...) systems that it loaded; see TOLD-FILES
  :LOST     ((KEY WHY) ...) of what it defined that has no source to evaluate again
  :ORIGIN   the file that defines the system that was loaded or tested

TEXT is (HEAD), or (HEAD TAIL OMITTED) for a longer one; what is NIL is left out."
  (let ((evaluation (make-evaluation :token token :session (ensure-session session) :code code)))
    (if patience
        (answer (outcome-in-own-thread evaluation package debug patience))
        (call-registered evaluation package debug))))


(defun call-registered (evaluation package debug)
  (answer (registered-outcome evaluation package debug)))

(defun registered-outcome (evaluation package debug)
  (let ((session (evaluation-session evaluation)) (*break-on-signals* nil))
    (setf (evaluation-thread evaluation) (swank/backend:current-thread)
          (session-used session) t)
    (register evaluation)
    (unwind-protect
         (multiple-value-bind (default note) (live-package session)
           (let ((package (if package (or (find-package-named package) package) default)))
             (if (packagep package)
                 (evaluation-outcome evaluation package debug note)
                 (unknown-package-outcome session package))))
      (unregister evaluation))))

(defun unknown-package-outcome (session name)
  (list :error (append (failure "PACKAGE-ERROR" (unknown-package-text name))
                       (instead-of name (similar-package-names (string-upcase name))))
        :package (package-name (session-package session))))

(defun evaluation-outcome (evaluation package debug note)
  (when (echo-p evaluation) (echo-code evaluation))
  (let ((before (costs)))
    (multiple-value-bind (texts report notes)
        (let ((*evaluation* evaluation)) (perform evaluation package debug))
      (let ((costs (costs-since before)))
        (decf (first costs) (parked-time evaluation))
        (close-sink (evaluation-out evaluation))
        (close-sink (evaluation-err evaluation))
        (flush-process-output)
        (when (echo-p evaluation) (echo-result texts report))
        (when note (push note notes))
        (outcome evaluation texts report notes costs)))))

(defun outcome (evaluation texts report notes costs)
  "What has come of EVALUATION so far, for the wire."
  (call-guarded
   (lambda () (whole-outcome evaluation texts report notes costs))
   (lambda (trouble)
     (list :values (if report '() texts)
           :error (for-wire report)
           :stdout (sink-text (evaluation-out evaluation))
           :stderr (sink-text (evaluation-err evaluation))
           :notes (list (format nil "What it has defined cannot be told: ~A was signalled in looking for that. ~
                                     A method of the program's that this calls may do that."
                                (plain-type-name trouble)))
           :package (session-package-name (evaluation-session evaluation))
           :costs costs))))

(defun whole-outcome (evaluation texts report notes costs)
  (let ((session (evaluation-session evaluation)) (missing (getf report :missing)))
    (when report (note-last-error session evaluation report))
    (settle evaluation)                 ; one that is suspended has come half way
    (multiple-value-bind (after note) (live-package session)
      (when note (pushnew note notes :test #'string=)) ; the code may have been told already
      (plist-without-nils
       :values (if report '() texts)
       :error (for-wire report)
       :stdout (sink-text (evaluation-out evaluation))
       :stderr (sink-text (evaluation-err evaluation))
       :warnings (records-for-wire (evaluation-records evaluation) missing)
       :notes (append notes (reverse (shiftf (evaluation-remarks evaluation) '())) (left-notes (evaluation-left evaluation))
                      (replaced-notes evaluation)
                      (take-news session) (take-guest-news))
       :origin (evaluation-origin evaluation)
       :package (package-name after)
       :journal (reverse (shiftf (evaluation-journal evaluation) '()))
       :gone (undone-since session)
       :loaded (shiftf (evaluation-loaded evaluation) '())
       :lost (reverse (shiftf (evaluation-losses evaluation) '()))
       :failures (evaluation-failures evaluation)
       :report (work-report evaluation)
       :departed (departed-for-wire session)
       :costs costs))))

(defun for-wire (report)
  "REPORT without what only the image knows what to do with."
  (dolist (key '(:missing :kept :condition) report)
    (remf report key)))
