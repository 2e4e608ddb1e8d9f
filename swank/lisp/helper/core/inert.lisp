;;;; inert.lisp -- the shape of Lisp text, without the reader

(cl:in-package #:swank-mcp)

;;; Source files and system definitions are looked into without being read: the
;;; reader would intern, run macro characters and obey #. of whatever file a
;;; look-up came across.  What is found is lists, strings and tokens, in standard
;;; syntax; quotes and the like are dropped.

(defstruct (token (:constructor make-token (text)) (:copier nil))
  "What is neither list nor string, as it is written: a symbol, a number, #\\a."
  text)

(defun block-comment-end (text at)
  "The position behind the #| comment that begins at AT."
  (let ((depth 0))
    (loop
      (let ((bar (position-if (lambda (char) (find char "|#")) text :start at)))
        (when (or (null bar) (= (1+ bar) (length text))) (return (length text)))
        (let ((pair (list (char text bar) (char text (1+ bar)))))
          (cond ((equal pair '(#\# #\|)) (incf depth) (setf at (+ bar 2)))
                ((equal pair '(#\| #\#)) (setf at (+ bar 2))
                 (when (zerop (decf depth)) (return at)))
                (t (setf at (1+ bar)))))))))

(defun next-datum-position (text at)
  "Where the next datum or closing parenthesis begins, behind blanks and comments;
NIL at the end."
  (loop
    (let ((next (position-if-not #'blankp text :start (min at (length text)))))
      (cond ((null next) (return nil))
            ((char= (char text next) #\;)
             (setf at (or (position #\newline text :start next) (length text))))
            ((eql (mismatch "#|" text :start2 next) 2)
             (setf at (block-comment-end text next)))
            (t (return next))))))

(defun token-end (text at)
  "The position behind the token whose first character, which may be any, is at AT."
  (let ((in-bars nil))
    (loop while (< at (length text))
          do (let ((char (char text at)))
               (cond ((char= char #\\) (incf at))
                     ((char= char #\|) (setf in-bars (not in-bars)))
                     (in-bars)
                     ((or (blankp char) (find char "()\"';`,")) (return)))
               (incf at)))
    (min at (length text))))

(defun inert-string (text begin)
  (let ((out (make-string-output-stream)) (at (1+ begin)))
    (loop while (< at (length text))
          do (let ((char (char text at)))
               (case char
                 (#\" (return))
                 (#\\ (when (< (incf at) (length text)) (write-char (char text at) out)))
                 (t (write-char char out))))
             (incf at))
    (values (get-output-stream-string out) begin (min (1+ at) (length text)))))

(defun inert-list (text begin at)
  (let ((items '()))
    (loop
      (multiple-value-bind (item found end) (inert-read text at)
        (cond (found (push item items) (setf at end))
              (t (return (values (nreverse items) begin
                                 (min (1+ end) (length text))))))))))

(defun inert-token (text begin &optional (from begin))
  (let ((end (max (1+ begin) (token-end text from))))
    (values (make-token (subseq text begin end)) begin end)))

(defun inert-behind (text begin at)
  "The datum behind a prefix that begins at BEGIN, as beginning there."
  (multiple-value-bind (datum found end) (inert-read text at)
    (if found
        (values datum begin end)
        (values (make-token "") begin at))))

(defun featurep* (datum)
  "True if the feature expression DATUM holds in this image."
  (cond ((token-p datum)
         (let ((name (string-upcase (string-left-trim ":" (token-text datum)))))
           (find-if (lambda (feature) (and (symbolp feature) (string= name feature))) *features*)))
        ((and (consp datum) (token-p (first datum)))
         (let ((operator (string-upcase (string-left-trim ":" (token-text (first datum))))))
           (cond ((string= operator "AND") (every #'featurep* (rest datum)))
                 ((string= operator "OR") (some #'featurep* (rest datum)))
                 ((string= operator "NOT") (not (featurep* (second datum)))))))))

(defun inert-conditional (text begin)
  "The datum behind #+FEATURE or #-FEATURE, or the one after that."
  (multiple-value-bind (feature found end) (inert-read text (+ begin 2))
    (if (not found)
        (values (make-token "") begin (length text))
        (let ((holds (if (char= (char text (1+ begin)) #\+)
                         (featurep* feature)
                         (not (featurep* feature)))))
          (multiple-value-bind (datum found end) (inert-read text end)
            (cond (holds (if found (values datum begin end) (values (make-token "") begin end)))
                  (t (inert-read text end))))))))

(defun inert-dispatch (text begin)
  "The datum that begins with # at BEGIN."
  (let* ((at (or (position-if-not #'digit-char-p text :start (1+ begin)) (length text)))
         (char (if (< at (length text)) (char text at) #\space)))
    (case (char-downcase char)
      ((#\+ #\-) (inert-conditional text begin))
      (#\\ (inert-token text begin (min (+ at 2) (length text))))
      (#\. (multiple-value-bind (datum found end) (inert-read text (1+ at))
             (declare (ignore datum found))
             (values (make-token "#.") begin end)))
      (#\( (inert-list text begin (1+ at)))
      ((#\' #\: #\p #\= #\a #\s #\c) (inert-behind text begin (1+ at)))
      (t (inert-token text begin (1+ at))))))

(defun inert-read (text at)
  "(VALUES DATUM BEGIN END) of the next datum of TEXT from AT.  BEGIN is NIL where
there is none; END is then at the closing parenthesis or the end of TEXT."
  (let ((begin (next-datum-position text at)))
    (if (or (null begin) (char= (char text begin) #\)))
        (values nil nil (or begin (length text)))
        (case (char text begin)
          (#\( (inert-list text begin (1+ begin)))
          (#\" (inert-string text begin))
          ((#\' #\`) (inert-behind text begin (1+ begin)))
          (#\, (inert-behind text begin
                             (if (and (< (1+ begin) (length text)) (find (char text (1+ begin)) "@."))
                                 (+ begin 2)
                                 (1+ begin))))
          (#\# (inert-dispatch text begin))
          (t (inert-token text begin))))))

(defun top-level-form (text index)
  "(VALUES DATUM BEGIN END) of the top level form of TEXT with that INDEX from 0, as
a reader would count; NIL if there are not so many."
  (let ((at 0))
    (loop
      (multiple-value-bind (datum begin end) (inert-read text at)
        (cond ((and (null begin) (>= end (length text))) (return nil))
              ((null begin))                 ; one parenthesis too many
              ((zerop index) (return (values datum begin end)))
              (t (decf index)))
        (setf at (if begin end (1+ end)))))))

(defun token-name= (datum name)
  "True of a token that names a symbol called NAME, whatever its package."
  (and (token-p datum)
       (let* ((text (token-text datum))
              (colon (position #\: text :from-end t)))
         (string-equal name (remove #\| (subseq text (if colon (1+ colon) 0)))))))
