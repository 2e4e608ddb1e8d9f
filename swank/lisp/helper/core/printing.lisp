;;;; printing.lisp -- values printed: bounded, and never failing

(cl:in-package #:swank-mcp)

;;; Printing calls methods of the user's.  They may fail, loop, ask the image to end, or print
;;; without end.  So everything is printed by CALL-SAFELY into a sink.

(defparameter *max-value-text* 1000 "Characters of a value that are shown.")

(defun print-safely (function limit control)
  "What FUNCTION prints to the stream that it is called with, as SINK-STRING has it of a sink
of LIMIT characters; or a text that says why printing failed."
  (let ((sink (make-sink limit)))
    (multiple-value-bind (trouble failedp) (call-safely (lambda () (funcall function sink)))
      (if failedp trouble (sink-string sink control)))))

(defun bounded-text (object &optional (limit *max-value-text*))
  "OBJECT printed on one line, of at most about LIMIT characters."
  (substitute #\space #\newline (print-safely (lambda (sink) (prin1 object sink)) limit "...")))

(defun brief (object)
  "OBJECT printed on one line of at most some 150 characters."
  (clip (substitute #\space #\newline
                    (print-safely (lambda (sink)
                                    (let ((*print-length* 10) (*print-level* 3) (*print-circle* t)
                                          (*print-pretty* nil) (*print-readably* nil)
                                          (*print-escape* t))
                                      (prin1 object sink)))
                                  160 ""))
        150))

(defun print-local (value)
  "VALUE on one line, bounded.  PRIN1 prints it, so methods of the user's may run."
  (print-safely (lambda (sink)
                  (let ((*print-length* 20) (*print-level* 5) (*print-circle* t) (*print-lines* nil)
                        (*print-pretty* nil) (*print-readably* nil) (*print-escape* t)
                        (*print-array* t))
                    (prin1 value sink)))
                500 " ... ~D characters ... ~A"))

(defun printed (function)
  "What FUNCTION prints to the stream that it is called with, as SINK-TEXT has it."
  (let ((sink (make-sink)))
    (funcall function sink)
    (or (sink-text sink) (list ""))))

;;; The values of an evaluation

(defun value-texts (values)
  "VALUES printed.  All of them share the limit of one stream: a reply has to fit into a frame
of 16 MB, however its characters are escaped."
  (let ((keep (max 500 (floor *keep* (max 1 (length values))))))
    (mapcar (lambda (value) (value-text value keep)) values)))

(declaim (notinline value-text)) ; backtraces end at its frame, see user-code.lisp

(defun value-text (value keep)
  "VALUE printed, as SINK-TEXT has it."
  (multiple-value-bind (text trouble) (printed-value value keep)
    (cond ((not trouble) text)
          ;; once more, with only those parts left out whose printing fails
          ((let ((*print-pprint-dispatch* (guarded-dispatch)))
             (multiple-value-bind (text trouble) (printed-value value keep)
               (and (not trouble) text))))
          (t (list (failed-text value trouble))))))

(defun printed-value (value keep)
  "VALUE printed, as SINK-TEXT has it; or NIL and a text that says why printing failed."
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
  (let ((*print-circle* nil))           ; it would mark strings of ours that occur twice
    (format nil "#<~A, ~A" (safely (name-of-type object)) (subseq trouble 2))))

(defun guarded-dispatch ()
  "The session's pprint dispatch table, in which objects that may have a PRINT-OBJECT method
of the program's are printed one by one, so that a failing one is replaced by a text."
  (let ((table (copy-pprint-dispatch)))
    (set-pprint-dispatch '(or standard-object structure-object condition)
                         #'print-guarded most-positive-fixnum table)
    table))

(defun print-guarded (stream object)
  (let ((sink (make-sink)))
    (multiple-value-bind (trouble failedp) (call-safely (lambda () (print-object object sink)))
      (write-string (if failedp
                        (failed-text object trouble)
                        (sink-string sink))
                    stream))))
