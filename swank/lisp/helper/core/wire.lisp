;;;; wire.lisp -- how answers are written to the wire

(cl:in-package #:swank-mcp)

;;; Swank prints the values of a call with ~S, under the user's printer settings and PRINT-OBJECT
;;; methods.  So our answer is not a value.  These functions write it to standard output, which
;;; Swank grabs; they depend on nothing that a user can change.

(defvar *served* nil
  "The connection whose requests this thread serves, if the thread is the helper's.")

(defun own-connection ()
  "The connection whose request this thread serves, also while a person debugs the thread."
  (or *served* swank::*emacs-connection*))

(defun answer (datum)
  "End a call of the bridge's with DATUM, of lists, strings, integers, keywords, T and NIL.  While
a person has this thread in SLDB, SLDB serves its requests and would answer the person."
  (if (eq (own-connection) swank::*emacs-connection*)
      (write-datum datum *standard-output*)
      (answer-past-debugger (with-output-to-string (out) (write-datum datum out))))
  (values))

(defun answer-past-debugger (text)
  (let ((swank::*emacs-connection* *served*))
    (swank::send-to-emacs (list :return (swank/backend:current-thread)
                                (list :ok (list text "")) ; as EVAL-AND-GRAB-OUTPUT has it
                                (first swank::*pending-continuations*)))))

(defun plist-without-nils (&rest plist)
  "PLIST without keys whose value is NIL: the bridge takes what is missing for NIL."
  (loop for (key value) on plist by #'cddr
        when value collect key and collect value))

(defun write-datum (datum stream)
  "Write DATUM so that the bridge, or any Lisp reader, reads it back."
  (etypecase datum
    (null (write-string "nil" stream))
    ((eql t) (write-string "t" stream))
    (string (write-quoted datum stream))
    (integer (write-integer datum stream))
    (keyword (write-char #\: stream)
     (write-string (string-downcase datum) stream))
    (cons (write-char #\( stream)
     (loop for (item . more) on datum
           do (write-datum item stream)
              (when more (write-char #\space stream)))
     (write-char #\) stream))))

(defun write-integer (integer stream)
  (when (minusp integer)
    (write-char #\- stream)
    (setf integer (- integer)))
  (if (< integer 10)
      (write-char (code-char (+ 48 integer)) stream)
      (multiple-value-bind (rest digit) (floor integer 10)
        (write-integer rest stream)
        (write-char (code-char (+ 48 digit)) stream))))

;;; UTF-8 has no surrogates: Swank would send U+FFFD for each of them.  They are written as
;;; \u{D800}, as the bridge shows control characters.

(declaim (inline surrogatep special-char-p))
(defun surrogatep (char)
  (<= #xD800 (char-code char) #xDFFF))
(defun special-char-p (char)
  (or (char= char #\") (char= char #\\) (surrogatep char)))

(defun write-special-char (char stream)
  (write-char #\\ stream)
  (if (surrogatep char)
      (with-standard-io-syntax (format stream "\\u{~X}" (char-code char)))
      (write-char char stream)))

(defun write-quoted (string stream)
  "Write STRING between double quotes, in runs between the characters to escape."
  (write-char #\" stream)
  (write-escaped string stream)
  (write-char #\" stream))

(defun write-escaped (string stream)
  (let ((string (coerce string '(simple-array character (*)))))
    (declare (type (simple-array character (*)) string)
             (optimize speed #+sbcl (sb-ext:inhibit-warnings 3)))
    (loop with start of-type fixnum = 0
          for at = (position-if #'special-char-p string :start start)
          do (write-string string stream :start start :end (or at (length string)))
          while at
          do (write-special-char (schar string at) stream)
             (setf start (1+ at)))))
