;;;; printing.lisp -- values printed: bounded, and never failing

(cl:in-package #:swank-mcp)

;;; Methods of the user's print: they may fail, loop, or ask the image to end, and print
;;; without end.  So all goes through CALL-SAFELY and into a sink.

(defparameter *max-value-text* 1000 "Characters of a value that are shown.")

(defun bounded-text (object &optional (limit *max-value-text*))
  "OBJECT printed on one line, of at most about LIMIT characters."
  (let ((sink (make-sink limit)))
    (multiple-value-bind (trouble failedp) (call-safely (lambda () (prin1 object sink)))
      (if failedp
          (substitute #\space #\newline trouble)
          (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
            (declare (ignore tail))
            (substitute #\space #\newline
                        (format nil "~A~:[~;...~]" head omitted)))))))

(defun brief (object)
  "OBJECT printed on one line of at most some 150 characters."
  (let ((sink (make-sink 160)))
    (multiple-value-bind (trouble failedp)
        (call-safely (lambda ()
                       (let ((*print-length* 10) (*print-level* 3) (*print-circle* t)
                             (*print-pretty* nil) (*print-readably* nil) (*print-escape* t))
                         (prin1 object sink))))
      (let ((text (if failedp trouble (or (first (sink-text sink)) ""))))
        (clip (substitute #\space #\newline text) 150)))))

(defun print-local (value)
  "VALUE on one line, bounded; this is PRIN1, so methods of the user's may run."
  (let ((sink (make-sink 500)))
    (multiple-value-bind (trouble failedp)
        (call-safely
         (lambda ()
           (let ((*print-length* 20) (*print-level* 5) (*print-circle* t) (*print-lines* nil)
                 (*print-pretty* nil) (*print-readably* nil) (*print-escape* t)
                 (*print-array* t))
             (prin1 value sink))))
      (if failedp
          trouble
          (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
            (format nil "~A~@[ ... ~D characters ... ~A~]" head omitted tail))))))

(defun printed (function)
  "What FUNCTION prints to the stream that it is called with, bounded, as SINK-TEXT
has it."
  (let ((sink (make-sink)))
    (funcall function sink)
    (or (sink-text sink) (list ""))))

;;; The values of an evaluation

(defun value-texts (values)
  "VALUES printed.  Together they keep no more than one stream does: a reply has
to fit into a frame of 16 MB however its characters are escaped."
  (let ((keep (max 500 (floor *keep* (max 1 (length values))))))
    (mapcar (lambda (value) (value-text value keep)) values)))

(declaim (notinline value-text)) ; a frame of its own, see user-code.lisp

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
