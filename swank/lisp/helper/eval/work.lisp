;;;; work.lisp -- other work of a session than evaluating code

(cl:in-package #:swank-mcp)

;;; Expanding, compiling, testing: each runs as an evaluation does, in turn, on
;;; the session's thread, with its package, streams, time limit and errors.  What
;;; it found out goes into the answer beside the rest, under :REPORT, also when
;;; it was stopped half way.

(defun perform-work (evaluation on-reading on-form)
  "Do the work of EVALUATION."
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
      (when *toplevel* (settle-toplevel evaluation *toplevel*)))))
