;;;; work.lisp -- other work of a session than evaluating code

(cl:in-package #:swank-mcp)

;;; Expanding, compiling, testing: each runs as an evaluation does, in turn, on
;;; the session's thread, with its package, streams, time limit and errors.  What
;;; it found out goes into the answer beside the rest, under :REPORT, also when
;;; it was stopped half way.

(defun call-as-work (function &key code session token package (debug 1))
  "Call FUNCTION as an evaluation of the session named SESSION and answer like
EVALUATE.  CODE, a string or a form, is what others are told is running.  FUNCTION
gets the evaluation and a function of a text that reads the one form in it; the
list that it returns are the evaluation's values."
  (call-registered (make-evaluation :token token :session (ensure-session session)
                                    :code code :work function)
                   package debug))

(declaim (notinline do-work))

(defun do-work (evaluation on-reading on-form)
  "Do the work of EVALUATION, as a frame of its own: backtraces end here."
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
    (multiple-value-prog1 (funcall (evaluation-work evaluation) evaluation #'read-only-form)
      (end-of-frame)
      (when *toplevel* (settle-toplevel evaluation *toplevel*)))))

(defun refuse (type message &optional advice)
  "End the current evaluation with an error that is told without a backtrace.  ADVICE
is what the report has beside the message."
  (funcall (evaluation-escape *evaluation*) (append (failure type message) advice)))

(defun tell (evaluation function)
  "Make the datum that FUNCTION returns at the end EVALUATION's report."
  (setf (evaluation-report evaluation) function))

(defun work-report (evaluation)
  (and (evaluation-report evaluation)
       (funcall (evaluation-report evaluation))))

(defun printed (function)
  "What FUNCTION prints to the stream that it is called with, bounded, as SINK-TEXT
has it."
  (let ((sink (make-sink)))
    (funcall function sink)
    (or (sink-text sink) (list ""))))
