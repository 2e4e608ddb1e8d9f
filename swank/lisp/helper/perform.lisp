;;;; perform.lisp -- reading and evaluating the user's code, and what surrounds it

(cl:in-package #:swank-mcp)

(defvar *max-values* 100)

;;; Calling the user's code

(declaim (notinline evaluate-form read-form value-text end-of-frame))

(defun end-of-frame () nil)

(defun evaluate-form (form &optional frame)
  "EVAL, in FRAME if there is one, as a frame of its own: backtraces end here."
  (multiple-value-prog1 (if frame (eval-in-frame form frame) (eval form))
    (end-of-frame)))

(defun read-form (stream)
  "READ, as a frame of its own; STREAM itself at its end."
  (multiple-value-prog1 (read stream nil stream)
    (end-of-frame)))

(defun call-with-debug-quality (quality function)
  "Compile in FUNCTION's extent with DEBUG at QUALITY, whatever is declaimed; 1,
the Lisp's own default, leaves the user's declamations alone."
  #+sbcl
  (if (eql quality 1)
      (funcall function)
      (let ((sb-c::*policy-min* sb-c::*policy-min*)
            (sb-c::*policy-max* sb-c::*policy-max*))
        (if (zerop quality)
            (sb-ext:restrict-compiler-policy 'debug 0 0)
            (sb-ext:restrict-compiler-policy 'debug quality))
        (funcall function)))
  #-sbcl
  (progn quality (funcall function)))

;;; Reports of what went wrong: plists for the wire

(defun failure (type message &optional frames (total 0))
  (list* :kind :error :type type :message message (frames-for-wire frames total)))

(defun instead-of (name near)
  "What goes into a report when the first of the names NEAR may have been meant."
  (and near (list :instead (list name (first near)))))

(defun condition-report (condition form &optional system)
  "The report of CONDITION, made where it was signalled, with the stack intact,
and the frames.  SYSTEM is the name of the system that was being loaded."
  (let ((missing (and (typep condition 'undefined-function)
                      (ignore-errors (cell-error-name condition)))))
    (multiple-value-bind (texts total frames)
        (ignore-errors (collect-frames *kept-frames* *package* :missing missing))
      (when *building*
        (setf texts (subseq texts 0 (or (ignore-errors (program-frames texts frames)) 0)) total (length texts)))
      (unless (or texts *building*)
        (setf texts (list (show-form form *package*)) total 1))
      (values (append (if system
                          (failure (type-label condition)
                                   (join-lines (system-failure-text condition system)
                                               (building-place-text condition))
                                   texts total)
                          (let ((advice (condition-advice condition form)))
                            (append (failure (type-label condition)
                                             (join-lines (with-advice (condition-text condition) advice)
                                                         (and (or *building* (read-from-file-p condition))
                                                              (building-place-text condition)))
                                             texts total)
                                    (advice-for-wire advice))))
                      (and system
                           (missing-system-p condition)
                           (let ((files (unregistered-definitions system)))
                             (if files
                                 (list :system (native-name (first files)))
                                 (instead-of system (near-systems system)))))
                      (when missing (list :missing missing)))
              frames))))

#+sbcl
(defun restart-finalizers ()
  "SAVE-LISP-AND-DIE has ended the thread that runs finalizers before it finds that it
cannot save, and leaves it so."
  (let ((start (find-symbol "FINALIZER-THREAD-START" '#:sb-impl))
        (thread (find-symbol "*FINALIZER-THREAD*" '#:sb-impl)))
    (when (and start thread (fboundp start) (boundp thread) (null (symbol-value thread)))
      (funcall start))))

(defun plain-report (condition trouble)
  "The report of CONDITION when TROUBLE has come up in making a better one."
  (failure (plain-type-name condition)
           (format nil "The error cannot be told: another one, ~A, was signalled in making its report. ~
                        A method of the program's that the report calls, PRINT-OBJECT for one, may do that."
                   (plain-type-name trouble))))

(defun refused-exit-report (what)
  (failure "EXIT-REFUSED"
           (format nil "The code asked ~A to end. It is not ended: the session lives in it.~:[~;~%~
                        It had called SB-EXT:DISABLE-DEBUGGER, after which any error does so; [stderr] tells the error.~]"
                   what (debugger-disabled-p))))

(defun ended-report (what)
  "Somebody has asked WHAT to end, the image or this thread.  In an image of a person's
that is, for a thread, most likely the person."
  (if (or *launched* (string= what "the Lisp image"))
      (refused-exit-report what)
      (failure "ABORTED"
               (format nil "Somebody told ~A to end: the person, with k in SLIME's list of threads for one, or the code, with ~
                            ABORT-THREAD or TERMINATE-THREAD. The evaluation has ended; the session goes on." what))))

;;; Values

(defun value-texts (values)
  "VALUES printed.  Together they keep no more than one stream does: a reply has
to fit into a frame of 16 MB however its characters are escaped."
  (let ((keep (max 500 (floor *keep* (max 1 (length values))))))
    (mapcar (lambda (value) (value-text value keep)) values)))

(defun value-text (value keep)
  "VALUE printed, as SINK-TEXT has it."
  (multiple-value-bind (text trouble) (printed-value value keep)
    (cond ((not trouble) text)
          ;; again, with all of it but what fails
          ((let ((*print-pprint-dispatch* (guarded-dispatch)))
             (multiple-value-bind (text trouble) (printed-value value keep)
               (and (not trouble) text))))
          (t (list (failed-text value trouble))))))

(defun printed-value (value keep)
  "VALUE printed, as SINK-TEXT has it; the second value says why it could not be."
  (let ((sink (make-sink keep)))
    (multiple-value-bind (trouble failedp)
        (call-safely
         (lambda ()
           (let ((*print-length* 100) (*print-level* 10) (*print-circle* t)
                 (*print-pretty* t) (*print-readably* nil) (*print-escape* t)
                 (*package* *package*)) ; a method may forget to put it back
             (if (and (stringp value) (notany #'surrogatep value))
                 (write-quoted value sink) ; PRIN1's result, in runs of characters
                 (prin1 value sink)))))
      (if failedp (values nil trouble) (sink-text sink)))))

(defun failed-text (object trouble)
  (let ((*print-circle* nil))           ; which would mark our words, when they come twice
    (format nil "#<~A, ~A" (safely (name-of-type object)) (subseq trouble 2))))

(defun guarded-dispatch ()
  "The session's pprint dispatch table, but that objects whose PRINT-OBJECT methods
may be the program's print on their own: of one that fails this is told in its place."
  (let ((table (copy-pprint-dispatch)))
    (set-pprint-dispatch '(or standard-object structure-object condition)
                         #'print-guarded most-positive-fixnum table)
    table))

(defun print-guarded (stream object)
  (let ((sink (make-sink)))
    (multiple-value-bind (trouble failedp) (call-safely (lambda () (print-object object sink)))
      (if failedp
          (write-string (failed-text object trouble) stream)
          (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
            (write-string head stream)
            (when tail (format stream " ... ~D characters left out ... " omitted)
                  (write-string tail stream)))))))

(defun name-of-type (value)
  (let ((name (class-name (class-of value))))
    (if (symbolp name) (name-label name) "object")))

;;; What surrounds the user's code

(defvar *own-hook* nil
  "The current evaluation's debugger hook.")

(defun call-with-debugger-hooks (function on-error)
  "Call FUNCTION; a condition that nobody handles goes to ON-ERROR, after a
debugger hook that the user's code has bound.  Programs look at *DEBUGGER-HOOK*:
where SBCL has another hook, that is NIL until they bind it, and within theirs."
  (let ((hook nil))
    (setf hook (lambda (condition self)
                 (declare (ignore self))
                 (let ((theirs *debugger-hook*))
                   (when (and theirs (not (eq theirs hook)))
                     ;; an error in it is ours to report: there is no other debugger
                     (let (#+sbcl (*debugger-hook* nil)
                           #+sbcl (sb-ext:*invoke-debugger-hook* hook)
                           #-sbcl (*debugger-hook* hook))
                       (funcall theirs condition theirs))))
                 (let ((*break-on-signals* nil) ; here the errors are our own
                       #+sbcl (*debugger-hook* hook))
                   (funcall on-error condition))))
    (let ((*own-hook* hook)
          #+sbcl (*debugger-hook* nil)
          #+sbcl (sb-ext:*invoke-debugger-hook* hook)
          #+sbcl (sb-ext:*stepper-hook* (lambda (condition) (at-step condition on-error)))
          #-sbcl (*debugger-hook* hook))
      (funcall function))))

(defun debugger-disabled-p ()
  "True after (SB-EXT:DISABLE-DEBUGGER), which many scripts begin with."
  #+sbcl (let ((hook sb-ext:*invoke-debugger-hook*))
           (and (symbolp hook) (string= hook "DEBUGGER-DISABLED-HOOK"))))

(defun keep-debugger-hook ()
  "Between two forms: have errors reported, whatever the first has disabled."
  #+sbcl (when (and *own-hook* (debugger-disabled-p))
           (setf sb-ext:*invoke-debugger-hook* *own-hook*)))

(defun call-with-streams (evaluation function)
  "Output goes to the evaluation's sinks; input is at its end."
  (let* ((out (evaluation-out evaluation))
         (err (evaluation-err evaluation))
         (no-input (make-instance 'no-input-within))
         ;; programs look at element types: an empty broadcast stream has another
         (nobody (make-two-way-stream no-input (make-sink 1)))
         (*standard-output* out)
         (*error-output* err)
         (*error-sink* err)
         (*trace-output* err)
         (*standard-input* (make-instance 'no-input))
         (*terminal-io* (make-two-way-stream no-input out))
         (*query-io* nobody)
         (*debug-io* nobody))
    (funcall function)))

(defun call-in-session (session package function)
  "Call FUNCTION with PACKAGE and the session's variables; keep in SESSION what
it assigns to them, however it ends.  Returns notes about what was not kept."
  (let ((notes '()) (*kept* (make-kept package (session-values session))))
    (progv *session-variables* (session-values session)
      (let* ((*read-suppress* nil)      ; T would make every later form NIL
             (readtable *readtable*)
             (case (readtable-case readtable))
             (*package* package))
        (setf (session-package-chosen session) nil)
        (unwind-protect (funcall function)
          (unless (eq case (readtable-case readtable))
            (setf (readtable-case readtable) case)
            (push "READTABLE-CASE of the session's readtable was put back; (setf *readtable* ...) to a changed copy lasts."
                  notes))
          (keep-in-session session *kept*))))
    notes))

;;; Reading and evaluating, form by form

(defun read-evaluate (evaluation debug &key on-reading on-form)
  "Evaluate the forms of the code one after the other; return the last one's
values.  ON-READING is told the position before each READ, ON-FORM each form."
  (let* ((code (evaluation-code evaluation))
         (in (make-string-input-stream code))
         (values '()))
    (loop
      (let ((start (file-position in)))
        (funcall on-reading in start)
        (let ((form (read-form in)))
          (when (eq form in) (return values))
          (funcall on-form form)
          (setf values (evaluate-toplevel evaluation form debug
                                          (subseq code (next-form-position code start)
                                                  (file-position in)))))))))

(defun evaluate-toplevel (evaluation form debug source)
  "Evaluate FORM as a REPL does and return its values as a list; note what of its
SOURCE is to be evaluated again in a new image."
  (let* ((session (evaluation-session evaluation))
         (package *package*)
         (*toplevel* (make-toplevel :form form :text source :package package)))
    (setf - form)
    (keep-debugger-hook)
    (note-assignments session form)
    (when (and (consp form) (loading-call-p form))
      (setf (session-before-load session) (before-loading)))
    (let ((values (call-retryably
                   evaluation
                   (lambda ()
                     (call-with-source-text
                      source
                      (lambda ()
                        (call-with-debug-quality
                         debug
                         (lambda () (evaluate-form form (evaluation-frame evaluation))))))))))
      (when (package-name *package*) (note-package-name session *package*))
      (when (and (consp form) (eq (first form) 'in-package))
        (setf (session-package-chosen session) t))
      (when (and (consp form) (loading-call-p form))
        (note-loaded session (second form)))
      (setf +++ ++  ++ +  + form
            *** **  ** *  * (first values)
            /// //  // /  / values)
      (settle-toplevel evaluation *toplevel*)
      (when (evaluation-debuggee evaluation) (keep-in-session session *kept*))
      values)))

(defun perform-forms (evaluation debug &key on-reading on-form)
  "Restore what is to be restored, load the evaluation's system, or evaluate its
code."
  (let ((system (evaluation-system evaluation))
        (session (evaluation-session evaluation)))
    (cond ((evaluation-restore evaluation)
           (setf (evaluation-failures evaluation)
                 (restore-entries (evaluation-restore evaluation)))
           '())
          (system
           (funcall on-form (evaluation-code evaluation))
           (load-system-in session system
                           (lambda ()
                             (call-with-debug-quality
                              debug
                              (lambda () (evaluate-form (evaluation-code evaluation))))))
           '())
          ((evaluation-work evaluation)
           (call-with-debug-quality debug
                                    (lambda () (do-work evaluation on-reading on-form))))
          (t (read-evaluate evaluation debug :on-reading on-reading :on-form on-form)))))

(defun perform (evaluation package debug)
  "The user's part of EVALUATION.  (VALUES VALUE-TEXTS REPORT NOTES), of which
the first or the second is meant."
  (let ((texts '()) (report nil) (notes '())
        (form nil) (reading nil) (start 0)
        (code (evaluation-code evaluation)))
    (block run
      (flet ((end-with (what)
               (setf report what)
               (return-from run)))
        (setf (evaluation-escape evaluation) #'end-with)
        (flet ((on-error (condition)
                 #+sbcl (when (one-thread-text condition) (ignore-errors (restart-finalizers)))
                 (call-with-open-binding-stack
                  (lambda ()
                    (multiple-value-bind (report frames)
                        (call-guarded
                         (lambda ()
                           (if reading
                               (reader-failure condition code start reading)
                               (condition-report condition form (evaluation-system evaluation))))
                         (lambda (trouble) (plain-report condition trouble)))
                      (setf (getf report :condition) condition)
                      (unless reading
                        (let ((note (suspend evaluation condition report frames)))
                          (when note (push note notes))))
                      (end-with report)))))
               (work ()
                 (restart-case
                     (call-refusing-exit
                      (lambda ()
                        (note-own-restart evaluation)
                        (let ((values (perform-forms
                                       evaluation debug
                                       :on-reading (lambda (in position)
                                                     (setf reading in start position))
                                       :on-form (lambda (next)
                                                  (setf form next reading nil
                                                        (evaluation-form evaluation) next)))))
                          (setf reading nil)
                          (unless (package-name *package*)
                            (setf *package* (user-package))
                            (push (deleted-package-note (evaluation-session evaluation)) notes))
                          (when (> (length values) *max-values*)
                            (push (format nil "The first ~D of ~D values are shown."
                                          *max-values* (length values))
                                  notes)
                            (setf values (subseq values 0 *max-values*)))
                          (setf texts (value-texts values))))
                      (lambda (what) (end-with (ended-report what))))
                   (abort ()
                     :report "Abort this evaluation."
                     (end-with (failure "ABORTED"
                                       (if *launched*
                                           "The evaluation invoked its ABORT restart."
                                           "The ABORT restart of the evaluation was invoked: by its own code, or by the person, in a debugger.")))))))
          (call-stoppably
           evaluation
           (lambda ()
             (call-with-streams
              evaluation
              (lambda ()
                (call-with-debugger-hooks
                 (lambda ()
                   (let ((more (call-in-session
                                (evaluation-session evaluation) package
                                (lambda ()
                                  (call-recording-warnings
                                   (lambda ()
                                     (call-noting-definitions evaluation #'work))
                                   (lambda () form)
                                   (lambda (condition form)
                                     (setf (evaluation-records evaluation)
                                           (note-warning condition form
                                                         (evaluation-records evaluation)))))))))
                     (setf notes (append notes more))))
                 #'on-error))))))))
    (values texts report notes)))
