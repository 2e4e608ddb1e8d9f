
(defmethod object-view ((complex complex))
  (view-of-parts (list (make-part "realpart" (realpart complex))
                       (make-part "imagpart" (imagpart complex)))))

(defmethod object-view ((character character))
  (make-view :facts (list (cons "Code" (format nil "~D, #x~:*~X" (char-code character)))
                          (cons "Name" (or (char-name character) "none")))))

(defmethod object-view ((pathname pathname))
  (view-of-parts (list (make-part "host" (pathname-host pathname))
                       (make-part "device" (pathname-device pathname))
                       (make-part "directory" (pathname-directory pathname))
                       (make-part "name" (pathname-name pathname))
                       (make-part "type" (pathname-type pathname))
                       (make-part "version" (pathname-version pathname)))))
;;;; written.lisp -- what the files of a system that is not loaded export, by their text

(cl:in-package #:swank-mcp)

(defparameter *most-written-text* 1000000 "Characters of a system's files that are searched.")

(defun written-name (datum)
  "The string that DATUM, scanned, is as the name of a symbol: \"A\" of a, #:a, :a, \"A\"; or NIL."
  (cond ((stringp datum) datum)
        ((and (token-p datum) (not (member (token-text datum) '("#." ".") :test #'string=)))
         (let ((text (string-left-trim "#:" (token-text datum))))
           (string-upcase (subseq text (let ((colon (position #\: text :from-end t)))
                                         (if colon (1+ colon) 0))))))))

(defun documentation-option (options)
  (loop for option in options
        when (and (consp option) (token-name= (first option) "DOCUMENTATION"))
          return (second option)))

(defparameter *written-kinds*
  ;; operator, title, what stands third, where the documentation is
  '(("DEFUN" "Functions" :lambda-list :fourth) ("DEFMACRO" "Macros" :lambda-list :fourth)
    ("DEFGENERIC" "Generic Functions" :lambda-list :option) ("DEFCLASS" "Classes" nil :option)
    ("DEFINE-CONDITION" "Conditions" nil :option) ("DEFSTRUCT" "Structures" nil :third)
    ("DEFVAR" "Variables" nil :fourth) ("DEFPARAMETER" "Variables" nil :fourth)
    ("DEFCONSTANT" "Constants" nil :fourth) ("DEFTYPE" "Types" nil :fourth)))

(defun written-definition (text form begin end)
  "(NAME TITLE ARGUMENTS REMARK) if FORM, between those positions of TEXT, is a definition; or NIL."
  (let ((kind (find-if (lambda (kind) (token-name= (first form) (first kind))) *written-kinds*)))
    (when (and kind (rest form))
      (destructuring-bind (title third place) (rest kind)
        (let ((name (written-name (if (consp (second form)) (first (second form)) (second form))))
              (documentation (ecase place
                               (:third (third form))
                               ;; a string that is all the body is the value
                               (:fourth (and (or (null third) (nthcdr 4 form)) (fourth form)))
                               (:option (documentation-option (cdddr form))))))
          (when name
            (list name title
                  (if third
                      (destructuring-bind (&optional from . to) (rest (third (child-spans text begin end)))
                        (if from (format nil " ~A" (clip (on-one-line (subseq text from to)) 100)) ""))
                      "")
                  (if (and (stringp documentation) (string/= documentation ""))
                      (format nil ": ~A" (first-sentence documentation))
                      ""))))))))

(defun written-exports (form)
  "The names that FORM exports, if it defines a package."
  (when (or (token-name= (first form) "DEFPACKAGE") (token-name= (first form) "DEFINE-PACKAGE"))
    (loop for option in (cddr form)
          when (and (consp option) (token-name= (first option) "EXPORT"))
            append (remove nil (mapcar #'written-name (rest option))))))

(defun map-written-forms (function text begin end)
  "Call FUNCTION with each form of TEXT between those positions, its begin and its end; for PROGN,
LET and the like with the forms in it."
  (loop with at = begin
        for (form from to) = (multiple-value-list (scan-datum text at))
        while (< (if from from to) end)
        do (cond ((not (consp form)))
                 ((some (lambda (operator) (token-name= (first form) operator))
                        '("PROGN" "EVAL-WHEN" "LOCALLY" "LET" "LET*"))
                  (map-written-forms function text (1+ from) (1- to)))
                 (t (funcall function form from to)))
           (setf at (if from to (1+ to)))))

(defun written-entries (files)
  "((TITLE . LINE) ...) of what the packages that FILES define export, by the text of FILES."
  (let ((exported '()) (definitions (make-hash-table :test 'equal)) (left *most-written-text*))
    (dolist (file files)
      (let ((text (and (plusp left) (file-text file))))
        (when (and text (plusp (decf left (length text))))
          (map-written-forms
           (lambda (form begin end)
             (setf exported (append exported (written-exports form)))
             (let ((definition (written-definition text form begin end)))
               (when definition
                 (push (rest definition) (gethash (first definition) definitions)))))
           text 0 (length text)))))
    (loop for name in (sort (remove-duplicates exported :test #'string=) #'string<)
          append (loop with spelled = (bare-spelling name)
                       for (title arguments remark) in (or (reverse (gethash name definitions))
                                                           '(("Other Names" "" "")))
                       collect (list title (format nil "- ~A~A~A" spelled arguments remark) spelled)))))

(defun written-function-names (entries)
  (loop for (title nil name) in entries
        when (member title '("Functions" "Macros" "Generic Functions") :test #'string=)
          collect (string-trim "|" name)))
;;;; xref.lisp -- FIND-DEFINITION and CROSS-REFERENCE

(cl:in-package #:swank-mcp)

;;; FIND-DEFINITION

(defparameter *max-definitions* 30 "Definitions of one name that are shown.")
(defparameter *max-definition-text* 8000 "Characters of one definition's source.")

#+sbcl
(defun source-description (source)
  "\" :AROUND (SHAPE T)\" for the source of a method, else an empty string."
  (let ((description (ignore-errors (sbcl:definition-source-description source))))
    (if (and (consp description) (notevery #'consp description))
        (let ((qualifiers (remove-if-not #'keywordp description))
              (specializers (remove-if #'keywordp description)))
          (format nil "~{ ~A~} (~{~A~^ ~})"
                  (mapcar #'bounded-text qualifiers)
                  (mapcar (lambda (name) (if (symbolp name) (spelling name) (bounded-text name 60)))
                          specializers)))
        "")))

#+sbcl
(defun definition-sections (name)
  "((TITLE LINE ...) ...) about the definitions of NAME, with their source."
  (loop for (kind . title) in *definition-kinds*
        append (loop for source in (definition-sources name kind)
                     for site = (source-site source (name-string name))
                     when (site-origin site)
                     collect `(,(format nil "~A ~A~A" title
                                        (if (stringp name) name (function-spelling name))
                                        (if (eq kind :method) (source-description source) ""))
                               ,(format nil "Defined in: ~A" (site-line-text site))
                               ,@(when (site-text site)
                                   (list (clip (string-right-trim '(#\space #\newline) (site-text site))
                                               *max-definition-text*)))))))

(defun system-definition-sections (name searchp)
  "The section about where the system NAME is defined, which ASDF or the project knows, or with
SEARCHP ASDF would find; in a list, or NIL."
  (let* ((file (and (string/= name "")
                    (find-package '#:asdf)
                    (or (definition-file name)
                        (given-definition name)
                        (and searchp (system-file name)))))
         (file (and file (ignore-errors (probe-file file)))))
    (when file
      (let ((text (or (file-text file) "")))
        (flet ((section (name)
                 (multiple-value-bind (options begin end) (find-defsystem text name)
                   (declare (ignore options))
                   (when begin
                     `((,(format nil "System ~A" name)
                        ,(format nil "Defined in: ~A, line ~D" (namestring file) (line-and-column text begin))
                        ,(clip (subseq text begin end) *max-definition-text*)))))))
          (or (section name)
              ;; one that ASDF infers from a file has no form of its own
              (and (asdf-value "REGISTERED-SYSTEM" name) (section (primary-name name)))
              (and (or (asdf-value "REGISTERED-SYSTEM" name) (string= name (primary-name name)))
                   `((,(format nil "System ~A" name) ,(format nil "Defined in: ~A" (namestring file)))))))))))

(defun find-definition (text &key (session "default") package)
  "Answer (:TITLE :SECTIONS :NOTES) about where the symbol, (SETF SYMBOL), package or system that
TEXT names is defined, with the source text if it is known."
  (with-look-up (session)
    (flet ((system (searchp)
             (and (null package)
                  (null (setf-place-name text))
                  (system-definition-sections (system-name-in text) searchp))))
      (multiple-value-bind (name meant found-in)
          (handler-case (name-or-package text session package)
            (lookup-failure (failure)
              (if (system t) nil (error failure))))
        (let* ((name (if (or found-in (null meant) (consp name)) name nil))
               (known (or meant found-in (consp name)))
               (sections (append (and name (definition-sections name))
                                 (and name (symbolp name) (definition-sections (list 'setf name)))
                                 (and meant (definition-sections (package-name meant)))
                                 (system (not known)))))
          (plist-without-nils
           :title (when (and known (null sections))
                    (format nil "~A: no definition with a known place"
                            (if name (function-spelling name) (package-name meant))))
           :sections (first-few sections *max-definitions*)
           :notes (when (> (length sections) *max-definitions*)
                    (list (format nil "~D more definitions of this name." (- (length sections) *max-definitions*))))))))))

;;; CROSS-REFERENCE

(defparameter *reference-kinds*
  '(("calls" . "Calls") ("called-by" . "Called By") ("references" . "Referenced By")
    ("binds" . "Bound By") ("sets" . "Set By") ("macroexpands" . "Expanded By")
    ("specializes" . "Specialized By")))

(defun shown-name (name)
  "The name of a function or method, in a line."
  (let ((name (public-name name)))
    (cond ((symbolp name) (spelling name))
          ((and (consp name) (eq (first name) 'setf)) (function-spelling name))
          (t (bounded-text name 120)))))

(defun source-name (name)
  "The string by which a file has the definition of NAME, which may be of a method or of a function
in a function."
  (cond ((symbolp name) (symbol-name name))
        ((stringp name) name)
        ((not (consp name)) "")
        ((eq (first name) 'setf) (source-name (second name)))
        ((member :in name) (source-name (second (member :in name))))
        ((consp (rest name)) (source-name (second name)))
        (t "")))

(defun owning-symbol (name)
  "A symbol whose package identifies the owner of the code NAME."
  (cond ((symbolp name) name)
        ((consp name) (or (owning-symbol (second (or (member :in name) (list name (second name)))))
                          'cl:car))
        (t 'cl:car)))

#+sbcl
(defun reference-lines (entries limit)
  "(VALUES LINES COUNT): a line for each of ENTRIES, (NAME . DEFINITION-SOURCE), without
duplicates, the user's before the system's, at most LIMIT; and how many there are."
  (let ((table (make-hash-table :test 'equal)) (named '()))
    (loop for (name . source) in entries
          for shown = (format nil "~A~A" (shown-name name)
                              (if (and source (consp name) (eq (first name) 'method) (null (cddr name)))
                                  (source-description source)
                                  ""))
          unless (gethash shown table)
            do (setf (gethash shown table) t)
               (push (list (if (internal-package-p (or (symbol-package (owning-symbol name)) *package*)) 1 0)
                           shown (source-name (public-name name)) source)
                     named))
    (setf named (stable-sort (sort named #'string< :key #'second) #'< :key #'first))
    (values (loop for (nil shown in-file source) in (first-few named limit)
                  for site = (and source (source-site source in-file))
                  collect (format nil "- ~A~@[, ~A~]" shown
                                  (and site (site-origin site) (brief-site-text site))))
            (length named))))

#+sbcl
(defun function-entries (functions)
  "((NAME . DEFINITION-SOURCE) ...) of FUNCTIONS, without internal ones of the system."
  (loop for function in functions
        for name = (ignore-errors (sbcl:%fun-name function))
        for symbol = (let ((public (and name (public-name name))))
                       (if (consp public) (find-if #'symbolp (rest public)) public))
        when (and name
                  (symbolp symbol)
                  (not (and (consp name) (keywordp (first name)))) ; an undefined one's trampoline
                  (or (null symbol)
                      (not (implementation-package-p (symbol-package symbol)))
                      (public-p symbol)))
          collect (cons name (ignore-errors (sb-introspect:find-definition-source function)))))

#+sbcl
(defun function-objects-of (name)
  "The function objects of NAME: a function, a macro's expander, or the functions of a generic
function's methods."
  (let ((function (cond ((and (symbolp name) (macro-function name)))
                        ((fboundp name) (fdefinition name)))))
    (cond ((null function) '())
          ((typep function 'generic-function)
           (loop for method in (sb-mop:generic-function-methods function)
                 collect (or (ignore-errors (sbcl:safe-method-fast-function method))
                             (sb-mop:method-function method))))
          (t (list function)))))

#+sbcl
(defun callees (name)
  (remove-duplicates
   (loop for function in (function-objects-of name)
         for code = (ignore-errors (sbcl:%fun-fun function))
         when (typep code 'function)
           append (ignore-errors (sb-introspect:find-function-callees code)))))

#+sbcl
(defun searchable-p (name)
  "True if the heap is to be searched for callers of NAME, because the compiler may not have
recorded them."
  (and (symbolp name) (fboundp name)
       (not (macro-function name)) (not (special-operator-p name))
       (not (typep (fdefinition name) 'generic-function))
       (not (internal-package-p (symbol-package name)))
       (not (eq (symbol-package name) (find-package '#:common-lisp)))))

#+sbcl
(defun references (name kind)
  "((NAME . DEFINITION-SOURCE) ...) of the KIND of references to or from NAME."
  (flet ((xref (function) (and (symbolp name) (funcall function name))))
    (cond ((string= kind "calls") (function-entries (callees name)))
          ((string= kind "called-by")
           (or (ignore-errors (sb-introspect:who-calls name))
               (and (searchable-p name)
                    (function-entries
                     (ignore-errors (sb-introspect:find-function-callers (fdefinition name)))))))
          ((string= kind "references") (xref #'sb-introspect:who-references))
          ((string= kind "binds") (xref #'sb-introspect:who-binds))
          ((string= kind "sets") (xref #'sb-introspect:who-sets))
          ((string= kind "macroexpands") (xref #'sb-introspect:who-macroexpands))
          ((and (string= kind "specializes") (symbolp name) (find-class name nil))
           (sb-introspect:who-specializes-directly name)))))

(defun cross-reference (text kind &key (session "default") package (limit 50))
  "Answer (:TITLE :SECTIONS :NOTES) about references of KIND, a string of *REFERENCE-KINDS* or
\"all\", to or from the symbol or (SETF SYMBOL) that TEXT names."
  (with-look-up (session)
    (let ((name (find-function-name text session package))
          (notes '())
          (*file-texts* (make-hash-table :test 'equal)))
      (let ((sections
              (loop for (each . title) in *reference-kinds*
                    append (when (or (string= kind "all") (string= kind each))
                             (multiple-value-bind (lines count)
                                 #+sbcl (reference-lines (references name each) limit)
                                 #-sbcl (values '() 0)
                               (when (> count limit)
                                 (push (format nil "~A: ~D of ~D are shown; a higher limit shows more."
                                               title limit count)
                                       notes))
                               (and lines (list (cons title lines))))))))
        (plist-without-nils
         :title (function-spelling name)
         :sections sections
         :notes (append (reverse notes)
                        (unless sections
                          '("The compiler records references of code that it has compiled. It does not see calls through variables, calls that it has expanded inline, and most that the system makes inside itself."))))))))
;;;; echoes.lisp -- the queue of what is to be shown to a person who watches

(cl:in-package #:swank-mcp)

;;; While nobody watches, nothing is queued.  people/echo.lisp shows what is.

(defparameter *max-echoes* 1000
  "How many items wait to be shown; the oldest are left out.")

(defvar *echoing* nil
  "True while somebody watches.")

(defvar *echo-place* (constantly "")
  "A function that returns where it is shown, in words.")

(defvar *echoes* '() "Newest first.")
(defvar *echo-count* 0)
(defvar *echoes-left-out* 0)
#+sbcl (defvar *echo-news* (sb-thread:make-semaphore :name "swank-mcp echo"))

(defun note-echo (what action &optional type message)
  "Have it shown that WHAT, :BEGUN, :ENDED, :SUSPENDED or :GOES-ON, has happened to ACTION."
  (when *echoing*
    (with-lock ()
      (when (>= *echo-count* (* 2 *max-echoes*)) ; half of them, so that this is rare
        (setf *echoes* (first-few *echoes* *max-echoes*))
        (incf *echoes-left-out* (- *echo-count* *max-echoes*))
        (setf *echo-count* *max-echoes*))
      (push (list what action type message) *echoes*)
      (incf *echo-count*))
    #+sbcl (sb-thread:signal-semaphore *echo-news*)))

(defun take-echoes ()
  "(VALUES ITEMS LEFT-OUT): what waits to be shown, oldest first, and how much was left out."
  (with-lock ()
    (setf *echo-count* 0)
    (values (reverse (shiftf *echoes* '())) (shiftf *echoes-left-out* 0))))

(defun await-echo ()
  "Wait until there is something to be shown, a second at most."
  #+sbcl (progn (sb-thread:wait-on-semaphore *echo-news* :timeout 1)
                (loop while (sb-thread:try-semaphore *echo-news*)))
  #-sbcl (loop repeat 10 until *echoes* do (sleep 0.1)))

(defun begin-echo-p ()
  "True if nobody has watched so far."
  (with-lock () (not (shiftf *echoing* t))))

(defun end-echo-p ()
  "True if all is shown; then nobody watches any more."
  (with-lock ()
    (and (null *echoes*)
         (progn (setf *echoing* nil) t))))
;;;; evaluation.lisp -- evaluations in progress, and those of them that are suspended

(cl:in-package #:swank-mcp)

