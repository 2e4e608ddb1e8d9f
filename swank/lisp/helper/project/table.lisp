;;;; table.lisp -- what a fresh image of the project has: the table that it tells, and that is heard
;;;;
;;;; The bridge starts a fresh image that loads the project's systems, asks it for its PROJECT-TABLE,
;;;; and tells that to the session's image by KNOW-TABLE.  A table is a text; each line of it has a
;;;; letter and fields with tabs between them:
;;;;
;;;;   p PACKAGE          all definitions that name its symbols are told
;;;;   d KEY LABEL        a definition, as of KEY-SPELLING and LABEL-OF
;;;;   w KEY SIGN         a definition that was asked for, "+" if it is there, "-" if not
;;;;   c KEY FINGERPRINT  of the code of a function, one of those that were asked for; "-" of none
;;;;   x PACKAGE NAME     a name that the package exports

(cl:in-package #:swank-mcp)

(defparameter *max-table* 8000000 "The characters that a table may have.")

(defmacro with-key-syntax (&rest body)
  `(with-standard-io-syntax
     (let ((*package* (find-package '#:keyword)) (*print-readably* nil) (*print-pretty* nil)
           (*read-eval* nil))
       ,@body)))

(defun unfit-for-line-p (field)
  (and (stringp field) (find-if (lambda (char) (find char '(#\newline #\tab))) field)))

(defun key-spelling (key)
  "KEY on one line, the same in each image, called within WITH-KEY-SYNTAX; NIL if it has a name that
is none there."
  (let ((symbol (key-symbol key)))
    (when (or (stringp symbol) (and (symbolp symbol) (symbol-package symbol)))
      (let ((text (ignore-errors (prin1-to-string key))))
        (and text (not (unfit-for-line-p text)) text)))))

(defun numbered-stem (text)
  "TEXT, of KEY-SPELLING, without the number in which its name ends; NIL if it ends in none.  Macros count
the names that they make, and count on from load to load."
  (let* ((last (position #\) text :test-not #'char= :from-end t))
         (before (and last (position-if-not #'digit-char-p text :end (1+ last) :from-end t))))
    (and before (< before last) (subseq text 0 (1+ before)))))

(defun spelled-key (text)
  "The key that TEXT, of KEY-SPELLING, spells; NIL if it has a package that is not there."
  (ignore-errors (read-from-string text)))

(defun key-function (key)
  "The function whose code the definition KEY is, or NIL."
  (case (car key)
    (:method #+sbcl (let ((method (ignore-errors (method-of-key key))))
                      (and method (ignore-errors (sbcl:safe-method-fast-function method)))))
    (t (let ((object (ignore-errors (definition-object key))))
         (and (functionp object) object)))))

(defun key-fingerprint (key)
  (let ((function (key-function key)))
    (and (functionp function) (code-fingerprint function))))

;;; In the fresh image

(defun call-with-package-keys (package function)
  "Call FUNCTION with the key of each definition that names a symbol of PACKAGE."
  (call-with-present-symbols
   (lambda (symbol status)
     (declare (ignore status))
     (when (eq (symbol-package symbol) package)
       #+sbcl (loop for (key) in (symbol-keys symbol) do (funcall function key))))
   package))

(defun write-table (packages wanted codes out)
  (flet ((line (letter &rest fields)
           (unless (find-if #'unfit-for-line-p fields) (format out "~A~{	~A~}~%" letter fields))))
    (with-key-syntax
      (dolist (name packages)
        (let ((package (find-package name)))
          (line "p" name)
          (when package
            (call-with-package-keys
             package (lambda (key)
                       (let ((text (key-spelling key)))
                         (when text (line "d" text (label-of key))))))
            (do-external-symbols (symbol package)
              (line "x" name (symbol-name symbol))))))
      (dolist (text wanted)
        (let ((key (spelled-key text)))
          (line "w" text (if (and key (definition-object key)) "+" "-"))))
      (dolist (text codes)
        (let ((key (spelled-key text)))
          (line "c" text (or (and key (key-fingerprint key)) "-")))))))

(defun project-table (packages wanted codes)
  "Answer (:TABLE TEXT), or (:LONG T) if that is too long, of this image, which has loaded the project: the
definitions of the packages called PACKAGES, whether those of the keys WANTED, texts as of KEY-SPELLING, are
there, and fingerprints of the code of CODES, such texts.  Each is a list of lists of one string."
  (let ((table (with-output-to-string (out)
                 (write-table (mapcar #'first packages) (mapcar #'first wanted) (mapcar #'first codes)
                              out))))
    (answer (if (<= (length table) *max-table*) (list :table table) '(:long t)))))

;;; In the session's image

(defstruct (table (:copier nil))
  "What a fresh image has shown of the project's files of that STATE.  FAILURE says why it did not
load them all, or is NIL.  PACKAGES has the names of those whose definitions are told.  LABELS are
theirs by KEY-SPELLING, STEMS has their NUMBERED-STEMs.  WANTED tells by KEY-SPELLING of what was asked for whether it is there.  CODES has the
fingerprints that were asked for, by KEY-SPELLING, NIL of what has no code; EXPORTS names of symbols by
names of packages."
  state failure packages
  (labels (make-hash-table :test 'equal))
  (stems (make-hash-table :test 'equal))
  (wanted (make-hash-table :test 'equal))
  (codes (make-hash-table :test 'equal))
  (exports (make-hash-table :test 'equal)))

(defvar *table* nil "The TABLE that was told last, or NIL.")

(defun fields-of (line)
  (loop for start = 0 then (1+ tab)
        for tab = (position #\tab line :start start)
        collect (subseq line start tab)
        while tab))

(defun know-table (state text failure)
  "TEXT is the table of a fresh image that has loaded the project's files of STATE, but for what
FAILURE says; \"\" is none."
  (let ((table (make-table :state state :failure (and (string/= failure "") failure))))
    (with-input-from-string (in text)
      (loop for line = (read-line in nil)
            while line
            do (destructuring-bind (letter &optional a b) (fields-of line)
                 (cond ((string= letter "p") (push a (table-packages table)))
                       ((string= letter "d")
                        (setf (gethash a (table-labels table)) b)
                        (incf (gethash (numbered-stem a) (table-stems table) 0)))
                       ((string= letter "w") (setf (gethash a (table-wanted table)) (equal b "+")))
                       ((string= letter "c")
                        (setf (gethash a (table-codes table)) (parse-integer b :junk-allowed t)))
                       ((string= letter "x") (push b (gethash a (table-exports table))))))))
    (setf *table* table)
    (answer t)))
