;;;; perform.lisp -- reads and evaluates the user's code, with its streams, variables and hooks

(cl:in-package #:swank-mcp)

(defvar *max-values* 100)

(defun call-with-debug-quality (quality function)
  "Call FUNCTION; compile meanwhile with DEBUG at QUALITY, whatever is declaimed.  With 1, the
Lisp's default, the user's declamations count."
  #+sbcl
  (if (eql quality 1)
      (funcall function)
      (let ((sbcl:*policy-min* sbcl:*policy-min*)
            (sbcl:*policy-max* sbcl:*policy-max*))
        (if (zerop quality)
            (sb-ext:restrict-compiler-policy 'debug 0 0)
            (sb-ext:restrict-compiler-policy 'debug quality))
        (funcall function)))
  #-sbcl
  (progn quality (funcall function)))

(defun call-retryably (evaluation function)
  "A list of the values of FUNCTION, with a restart that calls it again where
somebody may choose one."
  (if (evaluation-debuggee evaluation)
      (loop (with-simple-restart (retry "Evaluate this form again.")
              (return (multiple-value-list (funcall function)))))
      (multiple-value-list (funcall function))))

;;; What surrounds the user's code

(defun call-with-streams (evaluation function)
  "Call FUNCTION with output to the sinks of EVALUATION, and with its input or else at end of file."
  (let* ((out (evaluation-out evaluation))
         (err (evaluation-err evaluation))
         (no-input (make-instance 'no-input-within))
         ;; programs look at element types; that of an empty broadcast stream differs
         (nobody (make-two-way-stream no-input (make-sink 1)))
         (*input* (and (evaluation-input evaluation)
                       (make-string-input-stream (evaluation-input evaluation))))
         (*standard-output* out)
         (*error-output* err)
         (*error-sink* err)
         (*trace-output* err)
         (*standard-input* (or *input* (make-instance 'no-input)))
         (*terminal-io* (make-two-way-stream (or *input* no-input) out))
         ;; a question that nobody answers is no output
         (*query-io* (if *input* *terminal-io* nobody))
         (*debug-io* nobody))
    (funcall function)))

(defun call-in-session (session package function)
  "Call FUNCTION with PACKAGE and the session's variables.  However it ends, SESSION keeps what it
assigned to them.  Return notes about what it did not keep."
  (let ((notes '()) (*snapshot* (make-snapshot package (session-values session))))
    (with-session-variables ((session-values session))
      (let* ((*read-suppress* nil)      ; with T every later form would be NIL
             (readtable *readtable*)
             (case (readtable-case readtable))
             (*package* package))
        (setf (session-package-chosen session) nil)
        (unwind-protect (funcall function)
          (unless (eq case (readtable-case readtable))
            (setf (readtable-case readtable) case)
            (push "READTABLE-CASE of the session's readtable was put back; (setf *readtable* ...) to a changed copy lasts."
                  notes))
          (keep-variables session))))
    notes))

(defun keep-variables (session)
  "Have SESSION keep what the current evaluation has assigned to its variables.  A job keeps it to
itself: the session must not be in another package all at once."
  (unless (and *evaluation* (evaluation-job *evaluation*))
    (write-back session *snapshot*)))

;;; Reading and evaluating, form by form

(defun read-evaluate (evaluation debug &key on-reading on-form)
  "Evaluate the forms of the code one after the other and return the values of the last.  Call
ON-READING with the stream and the position before each READ, and ON-FORM with each form."
  (let* ((code (evaluation-code evaluation))
         (in (make-string-input-stream code))
         (values '()))
    (unless (reads-plainly-p (evaluation-session evaluation) code)
      (setf (evaluation-acts evaluation) t))
    (loop
      (let ((start (file-position in)))
        (funcall on-reading in start)
        (let ((form (read-form in)))
          (when (eq form in) (return values))
          (funcall on-form form)
          (unless (looks-only-p form) (setf (evaluation-acts evaluation) t))
          (setf (evaluation-start evaluation) (next-form-position code start)
                values (evaluate-toplevel evaluation form debug
                                          (subseq code (evaluation-start evaluation)
                                                  (file-position in)))))))))

(defun evaluate-toplevel (evaluation form debug source)
  "Evaluate FORM as a REPL does and return the list of its values.  Commit what it has defined,
with the parts of SOURCE that a restore needs."
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
      (unless (evaluation-job evaluation)
        (when (package-name *package*) (note-package-name session *package*))
        (when (and (consp form) (eq (first form) 'in-package))
          (setf (session-package-chosen session) t)))
      (when (and (consp form) (loading-call-p form))
        (note-loaded session (second form)))
      (setf +++ ++  ++ +  + form
            *** **  ** *  * (first values)
            /// //  // /  / values)
      (commit-toplevel evaluation *toplevel*)
      (when (evaluation-debuggee evaluation) (keep-variables session))
      values)))

;;; Expanding, compiling and testing run as an evaluation does: in turn, on the session's thread,
;;; with its package, streams, time limit and errors.  What they find out is in the answer under
;;; :REPORT, also if they were stopped half way.

(defun perform-work (evaluation on-reading on-form)
  "Do the work of EVALUATION, which is not to evaluate code."
  (flet ((read-only-form (text)
           (let ((in (make-string-input-stream text)))
             (funcall on-reading in 0)
             (let ((form (read-form in)))
               (when (eq form in) (refuse "NO-FORM" "There is no form in the text."))
               (let ((end (file-position in)))
                 (funcall on-reading in end)
                 (unless (eq in (read-form in))
                   (refuse "SEVERAL-FORMS"
                           (format nil "There is more than one form; the second begins at ~A. ~
                                        Give one at a time, or all of them in (progn ...)."
                                   (place-text text (next-form-position text end))))))
               (funcall on-form form)
               (note-assignments (evaluation-session evaluation) form)
               (setf *toplevel* (make-toplevel :form form :package *package*
                                               :text (string-trim '(#\space #\newline) text)))
               form))))
    (funcall on-form (evaluation-code evaluation))
    (multiple-value-prog1 (do-work (evaluation-work evaluation) evaluation #'read-only-form)
      (when *toplevel* (commit-toplevel evaluation *toplevel*)))))

(defun perform-forms (evaluation debug &key on-reading on-form)
  "Do what EVALUATION is for: restore entries, load a system, other work, or evaluate code."
  (let ((system (evaluation-system evaluation))
        (session (evaluation-session evaluation)))
    ;; INSPECT-FORM and EXPAND find out themselves
    (when (or system (evaluation-restore evaluation) (evaluation-work evaluation))
      (setf (evaluation-acts evaluation) t))
    (cond ((evaluation-restore evaluation)
           (setf (evaluation-failures evaluation)
                 (restore-entries (evaluation-restore evaluation)))
           '())
          (system
           (funcall on-form (evaluation-code evaluation))
           (load-system-in session
                           (lambda ()
                             (call-with-debug-quality
                              debug
                              (lambda () (evaluate-form (evaluation-code evaluation))))
                             (evaluation-system evaluation)))
           (note-project-state system)
           '())
          ((evaluation-work evaluation)
           (call-with-debug-quality debug
                                    (lambda () (perform-work evaluation on-reading on-form))))
          (t (read-evaluate evaluation debug :on-reading on-reading :on-form on-form)))))

(defun perform (evaluation package debug)
  "The user's part of EVALUATION: (VALUES VALUE-TEXTS REPORT NOTES).  With a REPORT, which is of an
error or a stop, the first value does not count."
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
                        (note-abort-restart evaluation)
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
                            (setf values (first-few values *max-values*)))
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
