;;;; sink.lisp -- output streams that never fill the memory

(cl:in-package #:swank-mcp)

;;; A sink keeps the first and the last characters written to it and counts
;;; those between.  The head grows as needed up to *KEEP* characters; only then
;;; is the tail made, a ring of the same size.  A program that prints without
;;; end costs 2 * *KEEP* characters and can still be stopped and seen.
;;;
;;; Threads that the user starts inherit an evaluation's sink and may write at
;;; any time, so every access holds the sink's lock.  After its evaluation a
;;; sink is closed; what then arrives goes to *LATE-OUTPUT*.

(defvar *keep* 250000
  "Characters kept at each end of one stream's output.")

(defvar *late-output* nil
  "Stream for output that outlives its evaluation, or NIL to drop it.")

(defclass sink (swank/gray:fundamental-character-output-stream)
  ((head :initform (make-string 0) :accessor sink-head
         :type (simple-array character (*)))
   (tail :initform nil :accessor sink-tail
         :type (or null (simple-array character (*))))
   (count :initform 0 :accessor sink-count :type (integer 0)
          :documentation "Characters written so far, kept or not.")
   (column :initform 0 :accessor sink-column :type fixnum)
   (keep :initarg :keep :reader sink-keep :type fixnum)
   (openp :initform t :accessor sink-openp)
   ;; CLISP 2.49.93 crashes where a stream has one slot more
   #+sbcl (bytes :initform '() :accessor sink-bytes :documentation "The beginning of a character.")
   #+sbcl (owner :initform nil :accessor sink-owner :documentation "Text for the bridge; see flushed.lisp.")
   #+sbcl (flushed :initform 0 :accessor sink-flushed :type fixnum)
   (lock :initarg :lock :reader sink-lock))
  (:documentation "A character output stream that keeps both ends of its text."))

(defun make-sink (&optional (keep *keep*))
  (make-instance 'sink :keep keep
                       :lock (swank/backend:make-lock :name "swank-mcp output")))

(defmacro with-sink-lock ((sink) &rest body)
  #+sbcl `(sb-thread:with-recursive-lock ((sink-lock ,sink)) ,@body)
  #-sbcl `(swank/backend:call-with-lock-held (sink-lock ,sink) (lambda () ,@body)))

(defun grow-head (sink room)
  "Make the head at least ROOM long, but not longer than the sink may keep."
  (let* ((old (sink-head sink))
         (new (make-string (min (sink-keep sink) (max room 256 (* 2 (length old)))))))
    (replace new old)
    (setf (sink-head sink) new)))

(defun keep-in-head (sink string start end)
  "Put what fits into the head; return the index of the rest."
  (let* ((count (sink-count sink))
         (room (- (sink-keep sink) count)))
    (if (plusp room)
        (let* ((take (min room (- end start)))
               (after (+ count take)))
          (when (> after (length (sink-head sink)))
            (grow-head sink after))
          (replace (sink-head sink) string :start1 count :start2 start :end2 (+ start take))
          (setf (sink-count sink) after)
          (+ start take))
        start)))

(defun keep-in-tail (sink string start end)
  "Put the end of STRING into the ring, which has the last *KEEP* characters."
  (let* ((keep (sink-keep sink))
         (tail (or (sink-tail sink) (setf (sink-tail sink) (make-string keep))))
         (last (max start (- end keep)))
         (at (mod (+ (- (sink-count sink) keep) (- last start)) keep))
         (first-run (min (- end last) (- keep at))))
    (replace tail string :start1 at :start2 last :end2 (+ last first-run))
    (replace tail string :start1 0 :start2 (+ last first-run) :end2 end)
    (incf (sink-count sink) (- end start))))

(defparameter *line-scan* 1000
  "How many characters back a newline is searched for, to know the column.")

(defun sink-write (sink string start end)
  (with-sink-lock (sink)
    (if (sink-openp sink)
        (let ((newline (position #\newline string :start (max start (- end *line-scan*))
                                                  :end end :from-end t)))
          (setf (sink-column sink)
                (if newline (- end newline 1) (+ (sink-column sink) (- end start))))
          (let ((rest (keep-in-head sink string start end)))
            (when (< rest end)
              (keep-in-tail sink string rest end))))
        (write-late string start end))))

(defun write-late (string start end)
  (when *late-output*
    (ignore-errors (write-string string *late-output* :start start :end end))))

(defun close-sink (sink)
  (with-sink-lock (sink)
    (setf (sink-openp sink) nil)))

;;; Reading a sink

(defun ring-substring (sink start end)
  "Characters START to END, positions in all that was written, out of the tail."
  (let* ((keep (sink-keep sink))
         (tail (sink-tail sink))
         (text (make-string (- end start))))
    (loop with at = (mod (- start keep) keep)
          for i from 0 below (length text)
          do (setf (schar text i) (schar tail at))
             (when (= (incf at) keep) (setf at 0)))
    text))

(defun sink-text (sink)
  "What was written, for the wire: (HEAD) or (HEAD TAIL OMITTED); NIL if nothing was."
  (with-sink-lock (sink)
    (let ((count (sink-count sink)) (keep (sink-keep sink)))
      (cond ((zerop count) nil)
            ((<= count keep)
             (list (subseq (sink-head sink) 0 count)))
            (t (let* ((start (max keep (- count keep)))
                      (head (subseq (sink-head sink) 0 keep))
                      (tail (ring-substring sink start count)))
                 (if (= start keep)
                     (list (concatenate 'string head tail))
                     (list head tail (- start keep)))))))))

(defparameter *gap*
  (format nil "~~%; ~A ~~:D characters left out here: too long to keep. Print less, or write it to a file ~:*~A~~%~~A"
          (or (code-char #x2026) "..."))
  "A format for SINK-STRING.  The bridge, which writes the same line, knows by it what cannot be read.")

(defun sink-string (sink &optional (control *gap*))
  "What was written to SINK, as a string.  CONTROL is a format for what follows the head where
SINK has not kept all: the number of characters left out, and the tail."
  (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
    (if tail (format nil "~A~?" head control (list omitted tail)) head)))

(defun sink-since (sink position limit)
  "The last characters, at most LIMIT, written after POSITION, and the position after them."
  (with-sink-lock (sink)
    (let* ((count (sink-count sink)) (keep (sink-keep sink))
           (start (max position (- count limit))))
      (values (cond ((>= start count) "")
                    ((<= count keep) (subseq (sink-head sink) start count))
                    (t (let ((start (max start keep (- count keep))))
                         (ring-substring sink start count))))
              count))))

;;; The Gray stream protocol

(defmethod swank/gray:stream-write-char ((sink sink) char)
  (let ((one (make-string 1 :initial-element char)))
    (declare (dynamic-extent one))
    (sink-write sink one 0 1))
  char)

(defmethod swank/gray:stream-write-string ((sink sink) string &optional (start 0) end)
  (sink-write sink string start (or end (length string)))
  string)

;; The process's own output takes bytes of UTF-8 as well.
#+sbcl
(defmethod sb-gray:stream-write-byte ((sink sink) byte)
  (with-sink-lock (sink)
    (let* ((bytes (append (sink-bytes sink) (list byte)))
           (lead (first bytes))
           (whole (cond ((< #xC1 lead #xE0) 2) ((< #xDF lead #xF0) 3) ((< #xEF lead #xF5) 4) (t 1))))
      (setf (sink-bytes sink) (and (< (length bytes) whole) bytes))
      (unless (sink-bytes sink)
        (write-string (sb-ext:octets-to-string (coerce bytes '(vector (unsigned-byte 8)))
                                               :external-format '(:utf-8 :replacement #\?))
                      sink))))
  byte)

#+sbcl
(defmethod sb-gray:stream-write-sequence ((sink sink) sequence &optional (start 0) end)
  (if (stringp sequence)
      (write-string sequence sink :start start :end end)
      (map nil (lambda (element)
                 (if (characterp element) (write-char element sink) (write-byte element sink)))
           (subseq sequence start end)))
  sequence)

(defmethod swank/gray:stream-line-column ((sink sink))
  (sink-column sink))
;; FORMAT asks for it.  The default is 72; the process's own output has 80.
#+sbcl (defmethod sb-gray:stream-line-length ((sink sink)) 80)

(defmethod swank/gray:stream-fresh-line ((sink sink))
  (unless (zerop (sink-column sink))
    (terpri sink)
    t))

;;; Input

(defvar *input* nil
  "The stream of the input that was given to the current evaluation; NIL if there was none.")

(defun input-position (&optional (input *input*))
  "How many characters have been read from INPUT; NIL without one, or if the code has closed it."
  (and input (ignore-errors (file-position input))))

(defclass no-input (swank/gray:fundamental-character-input-stream
                    #+sbcl sb-gray:fundamental-binary-input-stream)
  ()
  (:documentation "An input stream at its end, of characters and of bytes, as the standard
input of the process is."))

(defmethod swank/gray:stream-read-char ((stream no-input)) :eof)
(defmethod swank/gray:stream-listen ((stream no-input)) nil)
(defmethod swank/gray:stream-clear-input ((stream no-input)) nil)
(defmethod swank/gray:stream-unread-char ((stream no-input) char) char nil)
;; SBCL asks both sides of a two-way stream for the column.
(defmethod swank/gray:stream-line-column ((stream no-input)) nil)
#+sbcl (defmethod sb-gray:stream-read-byte ((stream no-input)) :eof)

(defclass no-input-within (no-input) ()
  (:documentation "A NO-INPUT that is the input side of a two-way stream: there SBCL's
READ-CHAR-NO-HANG learns of the end of file from LISTEN alone."))

#+sbcl (defmethod swank/gray:stream-listen ((stream no-input-within)) :eof)
