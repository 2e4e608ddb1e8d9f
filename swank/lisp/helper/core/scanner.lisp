;;;; scanner.lisp -- reads Lisp text as data, without the reader

(cl:in-package #:swank-mcp)

;;; Look-ups scan source files and system definitions, because the reader would intern symbols,
;;; run macro characters and evaluate #. in them.  The scanner knows the standard syntax.  It
;;; returns lists, strings and tokens, and drops quotes and the like.

(defstruct (token (:constructor make-token (text)) (:copier nil))
  "A datum that is neither list nor string, as written: a symbol, a number, #\\a."
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
  "Where the next datum or closing parenthesis begins after blanks and comments; NIL at the end."
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

(defun scan-string (text begin)
  (let ((out (make-string-output-stream)) (at (1+ begin)))
    (loop while (< at (length text))
          do (let ((char (char text at)))
               (case char
                 (#\" (return))
                 (#\\ (when (< (incf at) (length text)) (write-char (char text at) out)))
                 (t (write-char char out))))
             (incf at))
    (values (get-output-stream-string out) begin (min (1+ at) (length text)))))

(defun scan-list (text begin at)
  (let ((items '()))
    (loop
      (multiple-value-bind (item found end) (scan-datum text at)
        (cond (found (push item items) (setf at end))
              (t (return (values (nreverse items) begin
                                 (min (1+ end) (length text))))))))))

(defun scan-token (text begin &optional (from begin))
  (let ((end (max (1+ begin) (token-end text from))))
    (values (make-token (subseq text begin end)) begin end)))

(defun scan-prefixed (text begin at)
  "The datum at AT, after a prefix at BEGIN, as if it began at BEGIN."
  (multiple-value-bind (datum found end) (scan-datum text at)
    (if found
        (values datum begin end)
        (values (make-token "") begin at))))

(defun feature-holds-p (datum)
  "True if the feature expression DATUM holds in this image."
  (cond ((token-p datum)
         (let ((name (string-upcase (string-left-trim ":" (token-text datum)))))
           (find-if (lambda (feature) (and (symbolp feature) (string= name feature))) *features*)))
        ((and (consp datum) (token-p (first datum)))
         (let ((operator (string-upcase (string-left-trim ":" (token-text (first datum))))))
           (cond ((string= operator "AND") (every #'feature-holds-p (rest datum)))
                 ((string= operator "OR") (some #'feature-holds-p (rest datum)))
                 ((string= operator "NOT") (not (feature-holds-p (second datum)))))))))

(defun scan-conditional (text begin)
  "The datum after #+FEATURE or #-FEATURE at BEGIN, or, if that is to be skipped, the next."
  (multiple-value-bind (feature found end) (scan-datum text (+ begin 2))
    (if (not found)
        (values (make-token "") begin (length text))
        (if (eq (char= (char text (1+ begin)) #\+) (and (feature-holds-p feature) t))
            (scan-prefixed text begin end)
            (scan-datum text (nth-value 2 (scan-datum text end)))))))

(defun scan-dispatch (text begin)
  "The datum that begins with # at BEGIN."
  (let* ((at (or (position-if-not #'digit-char-p text :start (1+ begin)) (length text)))
         (char (if (< at (length text)) (char text at) #\space)))
    (case (char-downcase char)
      ((#\+ #\-) (scan-conditional text begin))
      (#\\ (scan-token text begin (min (+ at 2) (length text))))
      (#\. (multiple-value-bind (datum found end) (scan-datum text (1+ at))
             (declare (ignore datum found))
             (values (make-token "#.") begin end)))
      (#\( (scan-list text begin (1+ at)))
      ((#\' #\: #\p #\= #\a #\s #\c) (scan-prefixed text begin (1+ at)))
      (t (scan-token text begin (1+ at))))))

(defun scan-datum (text at)
  "(VALUES DATUM BEGIN END) of the next datum of TEXT from AT.  BEGIN is NIL where
there is none; END is then at the closing parenthesis or the end of TEXT."
  (let ((begin (next-datum-position text at)))
    (if (or (null begin) (char= (char text begin) #\)))
        (values nil nil (or begin (length text)))
        (case (char text begin)
          (#\( (scan-list text begin (1+ begin)))
          (#\" (scan-string text begin))
          ((#\' #\`) (scan-prefixed text begin (1+ begin)))
          (#\, (scan-prefixed text begin
                              (if (and (< (1+ begin) (length text)) (find (char text (1+ begin)) "@."))
                                  (+ begin 2)
                                  (1+ begin))))
          (#\# (scan-dispatch text begin))
          (t (scan-token text begin))))))

(defun child-spans (text begin end)
  "((DATUM BEGIN . END) ...) of what is in the list between those positions of TEXT."
  (loop with at = (1+ begin)
        for (datum from to) = (multiple-value-list (scan-datum text at))
        while (and from (<= to end))
        collect (list* datum from to)
        do (setf at to)))

(defun top-level-form (text index)
  "(VALUES DATUM BEGIN END) of the top level form of TEXT with that INDEX from 0, as
a reader would count; NIL if there are not so many."
  (let ((at 0))
    (loop
      (multiple-value-bind (datum begin end) (scan-datum text at)
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
