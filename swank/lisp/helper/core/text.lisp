;;;; text.lisp -- lines, words, places in a text, and how far two names are apart

(cl:in-package #:swank-mcp)

(defun clip (string limit)
  (if (> (length string) limit)
      (concatenate 'string (subseq string 0 limit) "...")
      string))

(defun on-one-line (text)
  (with-output-to-string (out)
    (let ((blank nil))
      (loop for char across text
            do (cond ((find char '(#\space #\newline #\tab)) (setf blank t))
                     (t (when (shiftf blank nil) (write-char #\space out))
                        (write-char char out)))))))

(defun one-line (string)
  (clip (substitute #\space #\newline string) 80))

(defun join-lines (&rest lines)
  (format nil "~{~A~^~%~}" (remove nil lines)))

(defun first-few (list count)
  (subseq list 0 (min count (length list))))

(defun count-beyond (list count)
  "How many elements LIST has after the first COUNT, or NIL if there are none."
  (let ((more (- (length list) count)))
    (and (plusp more) more)))

(defun clip-lines (lines count)
  "The first COUNT of LINES, and one that says how many more there are."
  (append (first-few lines count)
          (when (count-beyond lines count)
            (list (format nil "- and ~D more" (count-beyond lines count))))))

(defun blankp (char)
  (find char '(#\space #\newline #\tab #\return #\page)))

(defun starts-with (prefix string) (eql 0 (search prefix string :test #'char-equal)))

(defun as-sentence (text)
  (let ((text (string-right-trim '(#\space #\newline) text)))
    (if (and (plusp (length text)) (find (char text (1- (length text))) ".!?"))
        text
        (concatenate 'string text "."))))

(defun lexicographically< (a b)
  (loop for x in a for y in b
        do (cond ((< x y) (return t))
                 ((> x y) (return nil)))))

;;; Places in a text

(defun line-and-column (code position)
  "The line and the column of POSITION in CODE, both counted from 1."
  (let* ((position (min position (length code)))
         (newline (position #\newline code :end position :from-end t)))
    (values (1+ (count #\newline code :end position))
            (- position (or newline -1)))))

(defun number-after (word text)
  "The integer behind the first WORD in TEXT, in any case; NIL if there is none."
  (let ((at (search word text :test #'char-equal)))
    (and at (parse-integer text :start (+ at (length word)) :junk-allowed t))))

(defun place-text (code position)
  (multiple-value-bind (line column) (line-and-column code position)
    (format nil "line ~D, column ~D" line column)))

(defun next-form-position (code start)
  "Where the form after START begins, behind blanks and comments."
  (loop for at = (position-if-not #'blankp code :start start)
        while (and at (char= (char code at) #\;))
        do (setf start (or (position #\newline code :start at) (length code)))
        finally (return (or at (length code)))))

;;; How far apart names are

(defun edit-distance (a b)
  "Levenshtein's distance: how many characters to add, drop or change."
  (let ((row (make-array (1+ (length b)))))
    (dotimes (j (length row)) (setf (aref row j) j))
    (dotimes (i (length a) (aref row (length b)))
      (let ((diagonal (aref row 0)))
        (setf (aref row 0) (1+ i))
        (loop for j from 1 to (length b)
              do (let ((above (aref row j)))
                   (setf (aref row j)
                         (min (1+ above)
                              (1+ (aref row (1- j)))
                              (+ diagonal (if (char= (char a i) (char b (1- j))) 0 1)))
                         diagonal above)))))))

(defun same-letters-p (a b)
  "True if A and B have the same characters, case aside, in whatever order."
  (flet ((sorted (text) (sort (copy-seq (string-upcase text)) #'char<)))
    (string= (sorted a) (sorted b))))

(defun meant-p (written name)
  "True if WRITTEN is likely to mean NAME: case aside, a misspelling, of which a shorter name allows less,
or the singular or plural."
  (let ((length (max (length written) (length name))))
    (flet ((plural-p (a b)
             (or (string-equal a (concatenate 'string b "s"))
                 (string-equal a (concatenate 'string b "es")))))
      (or (plural-p written name)
          (plural-p name written)
          (<= (name-distance written name)
              (cond ((< length 3) 0)
                    ((= length 3) (if (same-letters-p written name) 1 0))
                    ((< length 7) 1)
                    (t 2)))))))

(defun name-distance (a b)
  "EDIT-DISTANCE, case aside; letters that changed places count as one."
  (let ((a (string-upcase a)) (b (string-upcase b)))
    (if (and (string/= a b) (same-letters-p a b))
        1
        (edit-distance a b))))
