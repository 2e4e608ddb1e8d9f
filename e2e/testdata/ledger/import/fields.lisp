(in-package #:ledger-import)

(define-condition bad-line (ledger-error)
  ((number :initarg :number :reader bad-line-number)
   (text :initarg :text :reader bad-line-text))
  (:report (lambda (condition stream)
             (format stream "Line ~D cannot be understood: ~A"
                     (bad-line-number condition) (bad-line-text condition)))))

(defun trim (string)
  (string-trim '(#\Space #\Tab #\Return) string))

(defun parse-fields (line &optional (separator #\;))
  "The fields of LINE, without the white space around them."
  (mapcar #'trim (split-sequence:split-sequence separator line)))

(defun comment-line-p (line)
  (let ((text (trim line)))
    (or (string= text "") (char= #\# (char text 0)))))
