;;;; forms.lisp -- the top level forms of a source text, and what they define
;;;;
;;;; The folder project/ compares what is loaded of the project's systems with what is on disk.
;;;; forms.lisp scans a text.  records.lisp remembers each file as it was loaded: which file,
;;;; which form and which content a definition of the image came from; other parts that need this
;;;; begin there, with LOADED-DEFINITION.  loads.lisp sees files that are loaded.  image.lisp
;;;; finds what the image has now, comparison.lisp what differs, status.lisp says it.  It uses
;;;; systems/ and definitions/.

(cl:in-package #:swank-mcp)

(defstruct (source-form (:copier nil))
  "A top level form of a text, from BEGIN to END, read in the package called PACKAGE, with the name
of its OPERATOR, or NIL.  CODE is a hash of its text without comments and blanks.  SPECS are what it
defines."
  begin end code operator package specs)

(defstruct (spec (:copier nil))
  "What a form defines, by names, because a symbol may not be there yet.  KIND is one of
NAMESPACE-OF.  NAME is of the symbol in the package called HOME.  SETFP is true of (SETF NAME).
DETAIL is (QUALIFIERS SPECIALIZERS) of a method, and the scanned options of a package."
  kind name home setfp detail)

;;; The text without what does not count

(defun delimiter-p (char) (find char "()'`,\""))

(defun normal-text (text begin end &key bare)
  "TEXT between those positions without comments, with at most one blank between tokens, and
tokens in lower case where the reader folds them.  If BARE, without prefixes of packages."
  (declare (type (simple-array character (*)) text) (type fixnum begin end))
  (let ((at begin) (blank nil) (last #\())
    (declare (type fixnum at))
    (with-output-to-string (out)
      (flet ((emit (from to fold)
               (when (and (shiftf blank nil) (not (delimiter-p last)) (not (delimiter-p (char text from))))
                 (write-char #\space out))
               (if fold
                   (loop for i of-type fixnum from from below to
                         do (write-char (char-downcase (char text i)) out))
                   (write-string text out :start from :end to))
               (setf last (if (= to (1+ from)) (char text from) #\a)
                     at to)))
        (loop while (< at end)
              do (let ((char (char text at)))
                   (cond ((blankp char) (setf blank t) (incf at))
                         ((char= char #\;)
                          (setf blank t
                                at (min end (or (position #\newline text :start at) end))))
                         ((and (char= char #\#) (< (1+ at) end) (char= (char text (1+ at)) #\|))
                          (setf blank t
                                at (min end (block-comment-end text at))))
                         ((delimiter-p char)
                          (if (char= char #\")
                              (emit at (min end (string-end text at)) nil)
                              (emit at (1+ at) nil)))
                         ((and (char= char #\#) (< (1+ at) end) (char= (char text (1+ at)) #\\))
                          (emit at (min end (token-end text (min (+ at 2) end))) nil))
                         (t (let* ((to (max (1+ at) (min end (token-end text at))))
                                   (escapedp (find-if (lambda (char) (find char "|\\"))
                                                      text :start at :end to))
                                   (colon (and bare (position #\: text :start at :end to :from-end t))))
                              (when (and colon (> colon at))
                                (setf at (1+ colon)))
                              (emit at to (not escapedp)))))))))))

(defun string-end (text at)
  "The position behind the string that begins at AT."
  (loop for i from (1+ at) below (length text)
        do (case (char text i)
             (#\\ (incf i))
             (#\" (return (1+ i))))
        finally (return (length text))))

(defun text-code (text)
  "A hash of TEXT."
  (declare (type (simple-array character (*)) text))
  (let ((code +hash-begin+))
    (declare (type (unsigned-byte 64) code) (optimize speed (safety 1)))
    (loop for char across text do (setf code (fold-number code (char-code char))))
    code))

(defun misfit (text)
  "The position of the first closing parenthesis in TEXT that is too many, or of the form in which
TEXT ends; NIL if its parentheses fit."
  (let ((open '()) (at 0))
    (loop
      (setf at (or (next-datum-position text at)
                   (return (first (last open)))))
      (case (char text at)
        (#\( (push at open) (incf at))
        (#\) (if open (pop open) (return at)) (incf at))
        (#\" (setf at (string-end text at)))
        ((#\' #\` #\,) (incf at))
        (t (setf at (if (eql (mismatch "#\\" text :start2 at) 2)
                        (token-end text (min (+ at 3) (length text)))
                        (max (1+ at) (token-end text at)))))))))

;;; What a form defines

(defparameter *space-of-operator*
  (let ((table (make-hash-table :test 'equal)))
    (loop for (operator . kind) in *defining-operators*
          unless (member kind '(:alien-type :alien-variable :hash-table-test))
            do (setf (gethash (symbol-name operator) table) (car (namespace-of (cons kind 'nil)))))
    (setf (gethash "DEFPACKAGE" table) :package
          (gethash "DEFINE-PACKAGE" table) :package)
    table)
  "Names of operators to the kind of what they define.")

(defparameter *surrounding-operators*
  '("PROGN" "EVAL-WHEN" "LOCALLY" "LET" "LET*" "FLET" "LABELS" "MACROLET" "SYMBOL-MACROLET"
    "HANDLER-BIND")
  "Operators in whose forms definitions are sought.")

(defun split-token (text)
  "(VALUES NAME PACKAGE-NAME) of the symbol that TEXT spells; the second is NIL without a prefix."
  (let* ((colon (and (not (find #\| text)) (position #\: text :from-end t)))
         (prefix (and colon (string-right-trim ":" (subseq text 0 colon)))))
    (flet ((folded (part)
             (if (find #\| part) (remove #\| part) (string-upcase (remove #\\ part)))))
      (values (folded (subseq text (if colon (1+ colon) 0)))
              (cond ((null colon) nil)
                    ((string= prefix "") "KEYWORD")
                    ((string= prefix "#") nil)
                    (t (folded prefix)))))))

(defun token-name (datum)
  "The name of the symbol, or the string, DATUM; NIL for anything else."
  (cond ((token-p datum) (values (split-token (token-text datum))))
        ((stringp datum) datum)))

(defun scanned-specializer (datum)
  (cond ((not (consp datum)) "T")
        ((token-p (second datum)) (token-name (second datum)))
        ((consp (second datum))         ; (EQL X)
         (let ((object (second (second datum))))
           (if (or (stringp object) (token-p object))
               (eql-text (if (stringp object) object (string-left-trim ":" (token-name object))))
               (eql-text nil))))
        (t "T")))

(defun eql-text (object) (format nil "(EQL~@[ ~A~])" object))

(defun method-detail (parts)
  "(QUALIFIERS SPECIALIZERS) of a DEFMETHOD with PARTS behind its name."
  (let ((qualifiers (loop while (token-p (first parts)) collect (token-name (pop parts)))))
    (list qualifiers
          (loop for parameter in (and (listp (first parts)) (first parts))
                until (and (token-p parameter) (starts-with "&" (token-text parameter)))
                collect (scanned-specializer parameter)))))

(defun defined-name (datum)
  "(VALUES TOKEN SETFP) of the name that DATUM, the second part of a defining form, gives."
  (cond ((token-p datum) (values datum nil))
        ((not (consp datum)) (values nil nil))
        ((and (token-name= (first datum) "SETF") (token-p (second datum))) (values (second datum) t))
        ((token-p (first datum)) (values (first datum) nil)))) ; (DEFSTRUCT (NAME ...))

(defun datum-specs (datum package)
  "The SPECs of the scanned form DATUM, read in the package called PACKAGE."
  (when (and (consp datum) (token-p (first datum)))
    (let* ((operator (token-name (first datum))) (kind (gethash operator *space-of-operator*)))
      (cond ((eq kind :package)
             (let ((name (token-name (second datum))))
               (and name (list (make-spec :kind kind :name name :detail (rest (rest datum)))))))
            (kind
             (multiple-value-bind (token setfp) (defined-name (second datum))
               (when token
                 (multiple-value-bind (name home) (split-token (token-text token))
                   (list (make-spec :kind kind :name name :home (or home package) :setfp setfp
                                    :detail (and (eq kind :method)
                                                 (method-detail (rest (rest datum))))))))))
            ((member operator *surrounding-operators* :test #'string=)
             (loop for part in (rest datum) append (datum-specs part package)))))))

(defun scan-source (text)
  "The SOURCE-FORMs of TEXT, a vector, as a reader would count them."
  (let ((at 0) (package "COMMON-LISP-USER") (forms '()))
    (loop
      (multiple-value-bind (datum begin end) (scan-datum text at)
        (cond (begin
               (let ((operator (and (consp datum) (token-name (first datum)))))
                 (push (make-source-form :begin begin :end end :package package :operator operator
                                         :code (text-code (normal-text text begin end))
                                         :specs (datum-specs datum package))
                       forms)
                 (when (equal operator "IN-PACKAGE")
                   (setf package (or (token-name (second datum)) package)))))
              ((>= end (length text))
               (return (coerce (nreverse forms) 'simple-vector))))
        (setf at (if begin end (1+ end)))))))

(defun form-head (form text)
  "(OPERATOR NAME) of FORM of TEXT, which defines nothing that its operator tells, if it looks like
the call of a macro that defines NAME; NIL of any other."
  (when (and (null (source-form-specs form))
             (starts-with "DEF" (or (source-form-operator form) "")))
    (let ((token (defined-name (second (scan-datum text (source-form-begin form))))))
      (and token (list (source-form-operator form) (token-name token))))))

(defun spec-key (spec)
  "The key, (KIND . NAME), of what SPEC names; NAME has a string for a symbol that is not there."
  (if (eq (spec-kind spec) :package)
      (cons :package (spec-name spec))
      (let* ((package (find-package (spec-home spec)))
             (symbol (or (and package (find-symbol (spec-name spec) package))
                         (format nil "~A::~A" (spec-home spec) (spec-name spec))))
             (name (if (spec-setfp spec) (list 'setf symbol) symbol)))
        (cons (spec-kind spec)
              (if (eq (spec-kind spec) :method) (cons name (spec-detail spec)) name)))))

(defun parts-of (form text)
  "((BEGIN . END) ...) of the data in the list that FORM of TEXT is."
  (let ((at (1+ (source-form-begin form))))
    (loop
      for (begin end) = (rest (multiple-value-list (scan-datum text at)))
      while begin
      collect (cons begin (setf at end)))))

(defun evaluated-forms (text)
  "The SOURCE-FORMs of TEXT, which was evaluated, with those in forms that only surround some."
  (labels ((parts (form)
             (loop for (begin . end) in (rest (parts-of form text))
                   for datum = (scan-datum text begin)
                   collect (let ((operator (and (consp datum) (token-name (first datum))))
                                 (package (source-form-package form)))
                             (make-source-form :begin begin :end end :package package :operator operator
                                               :code (text-code (normal-text text begin end))
                                               :specs (datum-specs datum package)))))
           (flat (form)
             (if (and (source-form-specs form)
                      (or (member (source-form-operator form) '("PROGN" "EVAL-WHEN") :test #'equal)
                          ;; a DEFSTRUCT not at top level is compiled with the earlier structure
                          (and (equal (source-form-operator form) "HANDLER-BIND")
                               (not (find :class (source-form-specs form) :key #'spec-kind)))))
                 (mapcan #'flat (parts form))
                 (list form))))
    (loop for form across (scan-source text) append (flat form))))

(defun live-form (text key)
  "(VALUES FORM DEFININGP SOURCE) of the form in TEXT, which was evaluated, that defines KEY, by
name alone: TEXT may have been read in any package.  DEFININGP is true if it defines anything."
  (let* ((source (coerce text '(simple-array character (*))))
         (definingp nil))
    (loop for form in (evaluated-forms source)
          do (dolist (spec (source-form-specs form))
               (setf definingp t)
               (when (same-key-name-p spec key)
                 (return-from live-form (values form t source)))))
    (values nil definingp source)))

(defun same-key-name-p (spec key)
  (destructuring-bind (kind . name) key
    (and (eq kind (spec-kind spec))
         (if (eq kind :package)
             (string= name (spec-name spec))
             (let ((name (if (eq kind :method) (first name) name)))
               (and (string= (spec-name spec) (string (function-symbol name)))
                    (eq (and (spec-setfp spec) t) (consp name))
                    (or (not (eq kind :method)) (equal (spec-detail spec) (rest (cdr key))))))))))

;;; What a form gives to its variable

(defun once-form-p (form)
  "True if FORM does not change a variable that has a value."
  (member (source-form-operator form) '("DEFVAR" "DEFGLOBAL" "DEFINE-LOAD-TIME-GLOBAL")
          :test #'equal))

(defun value-code (form text)
  "The code of what FORM of TEXT gives to the variable that it defines: of its third part.  NIL if
that cannot be told."
  (when (or (once-form-p form)
            (member (source-form-operator form) '("DEFPARAMETER" "DEFCONSTANT") :test #'equal))
    (let ((part (third (parts-of form text))))
      (and part (text-code (normal-text text (car part) (cdr part) :bare t))))))
