;;;; exports.lisp -- what packages export, by kind, and pages that have room for all of it

(cl:in-package #:swank-mcp)

;;; A section is (TITLE . LINES).  A line is a string; or (STRING NAME) where a page that is too
;;; long may have the bare NAME instead, or (STRING) where it may leave the line out.

(defun sentence-end-p (text at)
  "True if the period at AT in TEXT ends a sentence, unlike those of \"i.e. this\"."
  (or (= (1+ at) (length text))
      (and (blankp (char text (1+ at)))
           (let ((next (position-if-not #'blankp text :start (1+ at))))
             (or (null next) (not (lower-case-p (char text next))))))))

(defun first-sentence (text)
  "The first sentence of TEXT on one line."
  (let* ((text (string-trim '(#\space #\newline #\tab #\return) text))
         (end (loop for at = (position #\. text) then (position #\. text :start (1+ at))
                    while at
                    when (sentence-end-p text at) return (1+ at)))
         (paragraph (search (format nil "~%~%") text)))
    (clip (on-one-line (subseq text 0 (if (and end paragraph) (min end paragraph) (or end paragraph)))) 120)))

(defun remark-on (symbol kind)
  "\": First sentence.\" of the documentation of SYMBOL as a KIND, or an empty string."
  (let ((text (safely (documentation symbol kind))))
    (if (and (stringp text) (string/= "" (string-trim " " text)))
        (format nil ": ~A" (first-sentence text))
        "")))

#+sbcl
(defun initargs-text (class)
  "The initargs of CLASS, which need not be finalized, in parentheses; or an empty string."
  (let ((initargs (remove-duplicates
                   (loop for super in (ancestry class)
                         append (loop for slot in (sb-mop:class-direct-slots super)
                                      append (sb-mop:slot-definition-initargs slot))))))
    (if initargs (format nil " (~{~A~^ ~})" (mapcar #'bounded-text (first-few initargs 12))) "")))

(defun export-entries (symbol)
  "((TITLE . LINE) ...) of what SYMBOL names, each under the title of its kind."
  (let ((name (bare-spelling (symbol-name symbol))) (kinds (symbol-kinds symbol)))
    (flet ((entry (title arguments kind)
             (cons title (list (format nil "- ~A~A~A" name arguments (remark-on symbol kind)) name))))
      (let ((lambda-list (if (intersection kinds '(:macro :generic-function :function))
                             (format nil " ~A" (clip (lambda-list-text symbol) 100))
                             "")))
        (or (loop for kind in kinds
                  collect (ecase kind
                            (:special-operator (entry "Special Operators" "" 'function))
                            (:macro (entry "Macros" lambda-list 'function))
                            (:generic-function (entry "Generic Functions" lambda-list 'function))
                            (:function (entry "Functions" lambda-list 'function))
                            (:constant (entry "Constants" "" 'variable))
                            (:variable (entry "Variables" "" 'variable))
                            (:type (entry "Types" "" 'type))
                            (:class
                             (let ((class (find-class symbol)))
                               (ecase (class-kind class)
                                 ((:class :built-in) (entry "Classes" #+sbcl (initargs-text class) #-sbcl "" 'type))
                                 (:structure (entry "Structures" "" 'type))
                                 (:condition (entry "Conditions" #+sbcl (initargs-text class) #-sbcl "" 'type)))))))
            (list (cons "Other Names" (list (format nil "- ~A" name) name))))))))

(defparameter *export-titles*
  '("Macros" "Functions" "Generic Functions" "Classes" "Structures" "Conditions" "Variables"
    "Constants" "Types" "Special Operators" "Other Names"))

(defun exported-symbols (package)
  "The external symbols of PACKAGE, sorted, without those that it only passes on from COMMON-LISP."
  (let ((symbols '()) (standard (find-package '#:common-lisp)))
    (do-external-symbols (symbol package)
      (when (or (eq package standard) (not (eq standard (symbol-package symbol))))
        (push symbol symbols)))
    (sort symbols #'string< :key #'symbol-name)))

(defun function-names (symbols)
  (loop for symbol in symbols when (fboundp symbol) collect (symbol-name symbol)))

(defun sections-by-kind (entries &optional of)
  "Sections of ENTRIES, ((TITLE . LINE) ...); the titles name OF, if that is given."
  (loop for title in *export-titles*
        for lines = (loop for (kind . line) in entries when (equal kind title) collect line)
        when lines
          collect (cons (format nil "~A~@[ of ~A~]~@[ (~D)~]" title of
                                (and (nthcdr 5 lines) (length lines)))
                        lines)))

(defun export-sections (package &optional qualifiedp)
  "Sections about what PACKAGE exports; with QUALIFIEDP the titles name it."
  (sections-by-kind (loop for symbol in (exported-symbols package) append (export-entries symbol))
                    (and qualifiedp (package-name package))))

;;; Pages

(defparameter *page* 6000 "Characters of a page.")

(defun shortened (lines count)
  "The first COUNT of LINES, and the names of the others."
  (let* ((rest (nthcdr (min count (length lines)) lines))
         (names (loop for line in rest when (and (consp line) (second line)) collect (second line))))
    (append (mapcar (lambda (line) (if (consp line) (first line) line)) (first-few lines count))
            (cond ((null rest) '())
                  (names (list (format nil "~:[~;- and ~]~{~A~^, ~}" (plusp count) names)))
                  (t (list (format nil "- and ~D more" (length rest))))))))

(defun with-at-most (count sections)
  "SECTIONS as strings; of lines that may be shortened at most COUNT in each."
  (loop for (title . lines) in sections
        collect (cons title (shortened lines (if (some #'consp lines) count (length lines))))))

(defun page-length (sections)
  (loop for (title . lines) in sections
        sum (+ 4 (length title) (loop for line in lines sum (1+ (length line))))))

(defun page-answer (sections &rest more)
  "The answer of a look-up with SECTIONS on a page, and MORE: as :SECTIONS with lines shortened
until they fit, and then as :WHOLE with all lines."
  (let ((whole (with-at-most most-positive-fixnum sections)))
    (loop for count in '(1000000 80 40 25 15 10 7 5 4 3 2 1 0)
          for page = (with-at-most count sections)
          when (or (<= (page-length page) *page*) (zerop count))
            return (append (apply #'plist-without-nils more)
                           (plist-without-nils
                            :sections (fitted page sections)
                            :whole (and (/= (page-length page) (page-length whole)) whole))))))

(defun fitted (page sections)
  "PAGE, its lines of names cut alike where even names are too many; it was made from SECTIONS."
  (let ((share (floor *page* (max 1 (length sections)))))
    (if (<= (page-length page) *page*)
        page
        (loop for (title . lines) in page
              for section in sections
              collect (cons title (if (some #'consp (rest section))
                                      (mapcar (lambda (line) (clip line share)) lines)
                                      lines))))))
