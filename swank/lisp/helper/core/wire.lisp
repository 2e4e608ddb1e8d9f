;;;; wire.lisp -- what an answer looks like on the wire

(cl:in-package #:swank-mcp)

;;; Swank prints the values of a call with ~S, under whatever printer settings
;;; and PRINT-OBJECT methods the user has left behind.  So our answer is no value:
;;; it is what we write to standard output, which Swank grabs, by these functions
;;; of our own, which depend on nothing that a user can change.

(defvar *served* nil
  "The connection whose requests this thread serves, if it is a thread of ours.")

(defun own-connection ()
  "The one whose request this thread serves, also in a debugger that a person has opened in it."
  (or *served* swank::*emacs-connection*))

(defun answer (datum)
  "End a call from the bridge with DATUM, of lists, strings, integers, keywords,
T and NIL.  While a person has this thread in a debugger, SLDB serves what is sent
to it, and would answer the person."
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
  "What is missing is NIL to the reader, and each word costs time."
  (loop for (key value) on plist by #'cddr
        when value collect key and collect value))

(defun write-datum (datum stream)
  "Write DATUM so that any Lisp reader, and the bridge, reads it back."
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

;;; UTF-8 has no surrogates: Swank would send U+FFFD for any of them.  They are
;;; shown as \u{D800}, the way the bridge shows control characters.

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
