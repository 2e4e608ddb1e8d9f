;;;; readtables.lisp -- how a session reads, and how files are read

(cl:in-package #:swank-mcp)

(defun readtable-differences (readtable base)
  "True if READTABLE reads a character of ASCII differently from BASE."
  (flet ((differs (a b)
           (not (or (eq a b)
                    ;; a dispatching character has a closure that is copied with the table
                    (and (functionp a) (functionp b) (not (symbolp a)) (not (symbolp b))
                         #+sbcl (and (sbcl:closurep a) (sbcl:closurep b)))))))
    (loop for code below 128
          for char = (code-char code)
          thereis (or (differs (get-macro-character char readtable)
                               (get-macro-character char base))
                      (and (not (digit-char-p char))
                           (differs (ignore-errors (get-dispatch-macro-character #\# char readtable))
                                    (ignore-errors (get-dispatch-macro-character #\# char base))))))))

;;; The table with which files are read is the image's own, not one that the session has made for
;;; itself.  While a session has not changed its table, that is the image's, and what a file does to
;;; it lasts, as with LOAD in a REPL.

(defun syntax-differs-p (readtable base)
  "True if READTABLE reads something of ASCII otherwise than BASE."
  (or (not (eq (readtable-case readtable) (readtable-case base)))
      (readtable-differences readtable base)))

(defun file-syntax (session)
  "A readtable that reads as files are read; it is not to be changed."
  (or (session-file-syntax session) (session-first-syntax session)))

(defun note-file-syntax (session)
  "Have the next files read as the session's own table reads, which a file has changed, but for case:
the session puts that back."
  (let ((own (session-readtable session)))
    (when (readtable-differences own (file-syntax session))
      (let ((copy (copy-readtable own)))
        (setf (readtable-case copy) (readtable-case (file-syntax session))
              (session-file-syntax session) copy)))))

(defun call-with-file-syntax (session function)
  "Call FUNCTION, which loads or compiles files, with the readtable of files."
  (cond ((and (eq *readtable* (session-readtable session))
              (not (syntax-differs-p *readtable* (file-syntax session))))
         (unwind-protect (funcall function)
           (note-file-syntax session)))
        (t (let ((*readtable* (copy-readtable (file-syntax session))))
             (funcall function)))))

(defun current-reading ()
  "(READTABLE BASE FORMAT): how the reader reads now."
  (list *readtable* *read-base* *read-default-float-format*))

(defun image-value (variable)
  "The value of VARIABLE outside of sessions, which bind it."
  #+sbcl (sb-ext:symbol-global-value variable)
  #-sbcl (symbol-value variable))

(defun plain-reading-p (session)
  "True if the reader reads now as it reads files."
  (and (eql *read-base* (image-value '*read-base*))
       (eq *read-default-float-format* (image-value '*read-default-float-format*))
       (not (syntax-differs-p *readtable* (file-syntax session)))))

(defun readtable-changed-p (session)
  "True if the session's code has changed its readtable in place."
  (readtable-differences (session-readtable session) (session-first-syntax session)))

;;; Readings: what the reader depends on, but for the package

(defun call-reading-as (syntax function)
  (destructuring-bind (table base float) syntax
    (let ((*readtable* table) (*read-base* base) (*read-default-float-format* float))
      (funcall function))))

(defun standard-reading (session)
  (list (copy-readtable (file-syntax session))
        (image-value '*read-base*) (image-value '*read-default-float-format*)))

(defun same-reading-p (one other)
  (and (equal (rest one) (rest other))
       (not (syntax-differs-p (first one) (first other)))))

(defun odd-reading ()
  "(:SWANK-MCP-READING NUMBER) if the session reads now otherwise than files are read.  A number, for a
compiled file may have it in it; see SESSION-READINGS."
  (let ((session (and *evaluation* (evaluation-session *evaluation*))))
    (unless (or (null session) (plain-reading-p session))
      (with-lock ()
        (let* ((reading (cons (copy-readtable) (rest (current-reading))))
               (known (member reading (session-readings session) :test #'same-reading-p)))
          (unless known
            (setf known (push reading (session-readings session))))
          (list :swank-mcp-reading (length known)))))))

(defun reading-of (session plist)
  "(VALUES READING ODDP) with which the source in PLIST was read.  READING is NIL if that is that of
files, or is not known."
  (let ((number (getf plist :swank-mcp-reading)) (all (session-readings session)))
    (values (and number (<= number (length all)) (nth (- (length all) number) all))
            (and number t))))
