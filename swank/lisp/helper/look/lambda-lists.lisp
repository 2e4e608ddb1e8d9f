;;;; lambda-lists.lisp -- the lambda list of a function, also where the Lisp has not kept it

(cl:in-package #:swank-mcp)

;;; SBCL keeps no lambda list of what it compiles at DEBUG 0.  Then the definition's source says it,
;;; if that is surely what was compiled: the text that a session has evaluated, the text that a file
;;; of the project had when it was loaded, or another file that nobody has written since.  It is shown
;;; as written there, and what is not sure is said not to be known.

(defparameter *unknown-lambda-list* "(lambda list not known)")

(defparameter *lambda-list-operators*
  '((:function . "DEFUN") (:macro . "DEFMACRO") (:compiler-macro . "DEFINE-COMPILER-MACRO"))
  "Kinds to the operators whose third part is the lambda list.")

(defun function-of-kind (name kind)
  (case kind
    (:macro (macro-function name))
    (:compiler-macro (compiler-macro-function name))
    (t (fdefinition name))))

(defun function-kind (name)
  (if (and (symbolp name) (macro-function name)) :macro :function))

(defun kept-lambda-list (function)
  "(VALUES LAMBDA-LIST KNOWNP) of FUNCTION, or of the function so named, as the Lisp has kept it."
  (multiple-value-bind (lambda-list unknownp) (swank/backend:arglist function)
    #-sbcl (setf unknownp nil)
    (if (or unknownp (eq lambda-list :not-available))
        (values nil nil)
        (values lambda-list t))))

(defun lambda-list-text (name &optional (kind (function-kind name)))
  "The lambda list of what NAME names as a KIND, or *UNKNOWN-LAMBDA-LIST*."
  (safely
    (multiple-value-bind (lambda-list knownp)
        (kept-lambda-list #+sbcl (if (eq kind :function) name (function-of-kind name kind))
                          #-sbcl name)
      (cond ((not knownp)
             (or #+sbcl (written-lambda-list name kind) *unknown-lambda-list*))
            ((null lambda-list) "()")
            (t (let ((*package* *package*) (*print-gensym* nil)
                     (parameter (find-if #'ordinary-symbol-p
                                         (mapcar (lambda (item) (if (consp item) (first item) item))
                                                 (if (ignore-errors (list-length lambda-list))
                                                     lambda-list
                                                     '())))))
                 (when parameter (setf *package* (symbol-package parameter)))
                 (prin1-to-string lambda-list)))))))

(defun ordinary-symbol-p (object)
  "True of a parameter's name in whose package a lambda list prints best."
  (and object (symbolp object) (symbol-package object)
       (not (member object lambda-list-keywords))
       (not (eq (symbol-package object) (find-package '#:common-lisp)))))

;;; From the source

#+sbcl
(defun written-lambda-list (name kind)
  "The lambda list in the source from which NAME was surely defined as a KIND, or NIL."
  (let ((source (first (definition-sources name kind)))
        (operator (cdr (assoc kind *lambda-list-operators*))))
    (when (and source operator
               (member (sbcl:%fun-name (function-of-kind name kind))
                       (list name (list 'macro-function name) (list 'compiler-macro name))
                       :test #'equal)
               (standard-operator-p operator name))
      (multiple-value-bind (text begin end)
          (or-values (form-loaded-from (namespace-of (cons kind name))) (form-compiled-from source))
        (let ((place (and begin (only-definition text begin end operator name))))
          (and place (lambda-list-at text place)))))))

(defun standard-operator-p (operator name)
  "True if OPERATOR means the standard's in the home package of NAME."
  (let ((package (symbol-package (function-symbol name))))
    (and package (eq (find-symbol operator package) (find-symbol operator '#:common-lisp)))))

(defun form-loaded-from (key)
  "(VALUES TEXT BEGIN END) of the form by which a file of the project has brought the definition KEY,
as it was loaded; NIL if another definition has come since."
  (let ((origin (loaded-definition key)))
    (when (and origin (eq (origin-object origin) (definition-object key)))
      (let ((text (origin-text origin)))
        (values text 0 (length text))))))

(defvar *helper-loaded* (get-universal-time)
  "When this file was loaded; in a launched image, before the image was saved that it has come from.")

(defun written-before-p (file date)
  "True if FILE has been written last at the universal time DATE, and its compilation was later.  SBCL
notes DATE in seconds: a file that was compiled in the second in which it was written may have
been written in that second again."
  (and date
       (< (1+ date) *helper-loaded*)
       (eql date (file-write-date file))))

#+sbcl
(defun form-compiled-from (source)
  "(VALUES TEXT BEGIN END) of the top level form that SOURCE, a definition-source, was compiled from;
NIL if it is not sure to be that."
  (let* ((plist (sb-introspect:definition-source-plist source))
         (file (let ((file (sb-introspect:definition-source-pathname source)))
                 (and file (ignore-errors (probe-file (translate-logical-pathname file))))))
         (date (sb-introspect:definition-source-file-write-date source))
         (at (sb-introspect:definition-source-character-offset source)))
    (cond ((or (getf plist :emacs-buffer) (getf plist :swank-mcp-reading)) nil)
          (file
           (let ((text (and at (written-before-p file date) (file-text file))))
             (when (and text (<= at (length text)))
               (multiple-value-bind (datum begin end) (scan-datum text at)
                 (declare (ignore datum))
                 (values text begin end)))))
          ((stringp (getf plist :swank-mcp-source))
           (let ((text (getf plist :swank-mcp-source)))
             (values text 0 (length text)))))))

(defparameter *most-defining-text* 20000
  "Longer top level forms are not searched for the lambda lists of what they define.")

(defun only-definition (text begin end operator name)
  "Where in TEXT, between those positions, the only form begins that defines NAME by OPERATOR, or NIL."
  (when (<= (- end begin) *most-defining-text*)
    (let ((found '()))
      (loop for open = (position #\( text :start begin :end end)
              then (position #\( text :start (1+ open) :end end)
            while open
            do (when (eql (mismatch "(def" text :start2 open :test #'char-equal) 4)
                 (let ((datum (scan-datum text open)))
                   (when (and (token-name= (first datum) operator) (defines-name-p datum name))
                     (push open found)))))
      (and found (null (rest found)) (first found)))))

(defun defines-name-p (datum name)
  (let ((second (second datum)))
    (if (symbolp name)
        (token-name= second (symbol-name name))
        (and (consp second)
             (token-name= (first second) "SETF")
             (token-name= (second second) (symbol-name (second name)))))))

(defun lambda-list-at (text place)
  "The lambda list of the definition at PLACE in TEXT, as written but in one line and upper case; NIL
if only the reader knows what it is."
  (destructuring-bind (&optional (datum nil) . span)
      (third (child-spans text place (nth-value 2 (scan-datum text place))))
    (when (and span (listp datum) (char= #\( (char text (first span))))
      (as-printed text (car span) (cdr span)))))

(defun as-printed (text begin end)
  "What is in TEXT between those positions, without comments and line breaks, symbols in upper case;
NIL if it depends on the time at which it is read."
  (with-output-to-string (out)
    (let ((at begin) (last #\())
      (flet ((show (to &optional (function #'identity))
               (write-string (funcall function (subseq text at to)) out)
               (setf last (char text (1- to)) at to)))
        (loop
          (let ((next (next-datum-position text at)))
            (when (or (null next) (>= next end)) (return))
            (when (and (> next at) (not (find last "('`,@")) (char/= #\) (char text next)))
              (write-char #\space out))
            (setf at next)
            (case (char text at)
              ((#\( #\) #\' #\` #\,) (show (1+ at)))
              (#\" (show (nth-value 2 (scan-string text at))))
              (#\# (case (char text (min (1+ at) (1- end)))
                     ((#\' #\() (show (+ at 2)))
                     (#\\ (show (nth-value 2 (scan-datum text at))))
                     (t (return-from as-printed nil))))
              (t (show (token-end text at)
                       (lambda (token) (if (find-if (lambda (char) (find char "|\\")) token)
                                           token
                                           (string-upcase token))))))))))))
