;;;; outcome.lisp -- the outcome of an evaluation, for the wire

(cl:in-package #:swank-mcp)

(defun flush-process-output ()
  "Flush the process's own streams, of Lisp and of C: code may write there directly."
  #+sbcl
  (when *launched*
    (ignore-errors (finish-output sb-sys:*stdout*))
    (ignore-errors (finish-output sb-sys:*stderr*))
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "fflush" (function sb-alien:int sb-alien:unsigned-long)) 0)))

(defun costs (timedp)
  "(REAL RUN GC BYTES): clocks in microseconds, and a counter of bytes allocated.  The system adds up
RUN over all threads: without TIMEDP it is not asked, and RUN is 0."
  (flet ((us (units) (floor (* 1000000 units) internal-time-units-per-second)))
    (list (microseconds)
          (if timedp (us (get-internal-run-time)) 0)
          #+sbcl (us sb-ext:*gc-run-time*) #-sbcl 0
          (bytes-consed))))

(defun outcome (evaluation texts report notes costs)
  "The outcome of EVALUATION so far, for the wire; a small one if to find it fails."
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
    (commit-definitions evaluation)     ; a suspended one has not done so yet
    (multiple-value-bind (after note) (live-package session)
      (when note (pushnew note notes :test #'string=)) ; the code may have caused it before
      (plist-without-nils
       :values (if report '() texts)
       :error (for-wire report)
       :stdout (sink-text (evaluation-out evaluation))
       :stderr (sink-text (evaluation-err evaluation))
       :warnings (records-for-wire (evaluation-records evaluation) missing)
       :notes (append notes (reverse (shiftf (evaluation-remarks evaluation) '()))
                      (replaced-notes evaluation)
                      ;; the next reply tells these, not some job
                      (unless (evaluation-job evaluation)
                        (append (take-news session) (take-guest-news))))
       :system (evaluation-system evaluation)
       :origin (evaluation-origin evaluation)
       :built (evaluation-built evaluation)
       :package (package-name after)
       :journal (journal-for-wire evaluation)
       :more (and (session-journal session) t)
       :gone (undefined-since session)
       :loaded (shiftf (evaluation-loaded evaluation) '())
       :lost (losses-for-wire evaluation)
       :redefined (redefined-for-wire evaluation)
       :failures (evaluation-failures evaluation)
       :report (work-report evaluation)
       :departed (and (not (evaluation-job evaluation)) (departed-for-wire session))
       :threads (and (not (evaluation-job evaluation)) (suspended-threads-for-wire session))
       :looked (not (evaluation-acts evaluation))
       :costs costs))))

(defun for-wire (report)
  "REPORT without the keys that only this image uses."
  (dolist (key '(:missing :kept :condition) report)
    (remf report key)))

(defun note-departed (evaluation outcome)
  (let ((session (evaluation-session evaluation))
        (why (or (case (getf (getf outcome :error) :kind)
                   (:stopped "The person stopped it.")
                   (:timeout "Its time was up."))
                 (let ((message (getf (getf outcome :error) :message)))
                   (and message
                        (format nil "~:[~;The person took it over. ~]~A"
                                (debuggee-personp (evaluation-debuggee evaluation)) message)))
                 (format nil "~:[Somebody else, a person for one, let it go on~;The person took it over~], and it ended with ~[no values~:;the value~:*~P ~{~A~^, ~}~]."
                         (debuggee-personp (evaluation-debuggee evaluation))
                         (length (getf outcome :values))
                         (mapcar (lambda (text) (clip (format nil "~{~A~}" (remove-if-not #'stringp text)) 500))
                                 (getf outcome :values))))))
    (with-lock ()
      (push (list (evaluation-token evaluation) why (or (getf (getf outcome :error) :type) "")
                  (mapcar (lambda (text) (clip (first text) 5000)) (getf outcome :values)))
            (session-departed session)))))

(defun departed-for-wire (session)
  "((TOKEN WHY TYPE VALUES) ...) of suspended evaluations that ended while no command ran, with a
condition of TYPE, or with VALUES."
  (with-lock () (reverse (shiftf (session-departed session) '()))))
