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
                        (given-file name)
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
                  (let ((name (string-trim " \":#'" text)))
                    (or (system-definition-sections name searchp)
                        (system-definition-sections (string-downcase name) searchp))))))
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
(defun reference-source (function form-number)
  "The DEFINITION-SOURCE of FUNCTION or, with FORM-NUMBER, of that form in it; NIL if unknown."
  (let ((source (ignore-errors (sb-introspect:find-definition-source function))))
    (when (and source form-number)
      (setf (sb-introspect:definition-source-form-number source) form-number))
    source))

#+sbcl
(defun reference-lines (entries limit)
  "(VALUES LINES COUNT): a line for each of ENTRIES, (NAME SOURCE . ARGUMENTS) where the function SOURCE
returns a DEFINITION-SOURCE for ARGUMENTS, without duplicates, the user's before the system's, at
most LIMIT; and how many there are."
  (let ((table (make-hash-table :test 'equal)) (named '()))
    (loop for (name . place) in entries
          for shown = (format nil "~A~A" (shown-name name)
                              (if (and place (consp name) (eq (first name) 'method) (null (cddr name)))
                                  (source-description (apply (first place) (rest place)))
                                  ""))
          unless (gethash shown table)
            do (setf (gethash shown table) t)
               (push (list (if (internal-package-p (or (symbol-package (owning-symbol name)) *package*)) 1 0)
                           shown (source-name (public-name name)) place)
                     named))
    (setf named (stable-sort (sort named #'string< :key #'second) #'< :key #'first))
    (values (loop for (nil shown in-file place) in (first-few named limit)
                  for source = (and place (apply (first place) (rest place)))
                  for site = (and source (source-site source in-file))
                  collect (format nil "- ~A~@[, ~A~]" shown
                                  (and site (site-origin site) (brief-site-text site))))
            (length named))))

#+sbcl
(defun function-entries (functions)
  "((NAME SOURCE . ARGUMENTS) ...) of FUNCTIONS, see REFERENCE-LINES, without internal ones of the system."
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
          collect (list name #'reference-source function nil)))

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
(defun call-with-each-function (function)
  "Call FUNCTION with the name and the function object of each global function, macro and method."
  (flet ((tell (name object)
           (let ((simple (ignore-errors (sbcl:%fun-fun object))))
             (when simple (funcall function name simple)))))
    (sbcl:call-with-each-globaldb-name
     (lambda (name)
       (let ((object (cond ((and (consp name) (member (first name) '(sbcl:slow-method sbcl:fast-method)))
                            nil)        ; it comes with its generic function
                           ((and (symbolp name) (macro-function name)))
                           ((and (sbcl:legal-fun-name-p name) (fboundp name))
                            (ignore-errors (fdefinition name)))))) ; it may just have gone
         (if (typep object 'generic-function)
             (dolist (method (sb-mop:generic-function-methods object))
               (let ((object (ignore-errors (sbcl:safe-method-fast-function method))))
                 (when object (tell (sbcl:%fun-name object) object))))
             (when object (tell name object))))))))

#+sbcl
(defun recorded-references (name)
  "A property list from :CALLS, :BINDS, :REFERENCES, :SETS and :MACROEXPANDS to ((FUNCTION-NAME SOURCE .
ARGUMENTS) ...), see REFERENCE-LINES, of what the compiler has recorded of NAME.  One walk over all
functions serves all kinds, where each function of SB-INTROSPECT makes one."
  (let ((found '()))
    (call-with-each-function
     (lambda (owner function)
       (let ((packed (sbcl:%simple-fun-xrefs function)))
         (when packed
           (sbcl:map-packed-xref-data
            (lambda (kind referred form-number)
              (when (equal referred name)
                (push (list owner #'reference-source function form-number) (getf found kind))))
            packed)))))
    found))

#+sbcl
(defun references (name kind recorded)
  "((NAME SOURCE . ARGUMENTS) ...), see REFERENCE-LINES, of the KIND of references to or from NAME, of
which those that the compiler has recorded are RECORDED."
  (flet ((recorded (kind) (and (symbolp name) (getf recorded kind))))
    (cond ((string= kind "calls") (function-entries (callees name)))
          ((string= kind "called-by")
           (or (getf recorded :calls)
               (and (searchable-p name)
                    (function-entries
                     (ignore-errors (sb-introspect:find-function-callers (fdefinition name)))))))
          ((string= kind "references") (recorded :references))
          ((string= kind "binds") (recorded :binds))
          ((string= kind "sets") (recorded :sets))
          ((string= kind "macroexpands") (recorded :macroexpands))
          ((and (string= kind "specializes") (symbolp name) (find-class name nil))
           (loop for (method . source) in (sb-introspect:who-specializes-directly name)
                 collect (list method #'identity source))))))

(defun cross-reference (text kind &key (session "default") package (limit 50))
  "Answer (:TITLE :SECTIONS :NOTES) about references of KIND, a string of *REFERENCE-KINDS* or
\"all\", to or from the symbol or (SETF SYMBOL) that TEXT names."
  (with-look-up (session)
    (let* ((name (find-function-name text session package))
           (recorded #+sbcl (recorded-references name) #-sbcl '())
           (notes '()))
      (declare (ignorable recorded))
      (let ((sections
              (loop for (each . title) in *reference-kinds*
                    append (when (or (string= kind "all") (string= kind each))
                             (multiple-value-bind (lines count)
                                 #+sbcl (reference-lines (references name each recorded) limit)
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
