(in-package #:ledger-report)

(defvar *report-kinds* '(:balance balance-report :summary summary-report)
  "Kinds of reports of a whole book, each with its function of a book and a stream.")

(defun write-report (kind book &optional (stream *standard-output*))
  "Write the report of that KIND."
  (let ((function (getf *report-kinds* kind)))
    (unless function
      (error "There is no report ~S; there are ~{~S~^, ~}."
             kind (loop for (kind) on *report-kinds* by #'cddr collect kind)))
    (funcall function book stream)))
