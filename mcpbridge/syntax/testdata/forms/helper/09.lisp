
(defun class-names (classes)
  (sort (loop for class in classes
              for name = (class-name class)
              when (and name (symbolp name) (symbol-package name)) collect (spelling name))
        #'string<))

#+sbcl
(defun slot-line (slot from)
  "A line for the direct SLOT; FROM is the class from which it is inherited, or NIL."
  (flet ((list-of (label items)
           (when items (list (format nil "~A ~{~A~^ ~}" label items)))))
    (let ((type (sb-mop:slot-definition-type slot))
          (documentation (and (typep slot 'standard-object)
                              (not (typep slot 'sbcl:structure-direct-slot-definition))
                              (safely (documentation slot t)))))
      (format nil "- ~A~@[ (from ~A)~]~:[~;: ~:*~{~A~^, ~}~]"
              (bare-spelling (symbol-name (sb-mop:slot-definition-name slot)))
              (and from (spelling (class-name from)))
              (append
               (list-of "initarg" (mapcar #'bounded-text (sb-mop:slot-definition-initargs slot)))
               (list-of "reader" (mapcar #'bounded-text (sb-mop:slot-definition-readers slot)))
               (list-of "writer" (mapcar #'bounded-text (sb-mop:slot-definition-writers slot)))
               (unless (eq type t) (list-of "type" (list (bounded-text type 100))))
               (when (sb-mop:slot-definition-initfunction slot)
                 (list-of "initform" (list (bounded-text (sb-mop:slot-definition-initform slot) 200))))
               (unless (eq :instance (sb-mop:slot-definition-allocation slot))
                 (list-of "allocation" (list (bounded-text (sb-mop:slot-definition-allocation slot)))))
               (when (and (stringp documentation) (string/= documentation ""))
                 (list (clip documentation 200))))))))

#+sbcl
(defun ancestry (class)
  "CLASS and its superclasses, also if it is not finalized."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (cons class (remove-duplicates
                   (loop for super in (sb-mop:class-direct-superclasses class)
                         append (ancestry super))))))

#+sbcl
(defun slot-lines (class)
  "Lines for the slots of CLASS, then for those that it inherits and does not redefine."
  (let ((seen '()) (lines '()))
    (dolist (super (ancestry class))
      (unless (member (class-name super) '(t standard-object structure-object condition
                                           sbcl:slot-object))
        (dolist (slot (sb-mop:class-direct-slots super))
          (unless (member (sb-mop:slot-definition-name slot) seen)
            (push (sb-mop:slot-definition-name slot) seen)
            (push (slot-line slot (if (eq super class) nil super)) lines)))))
    (when lines
      (cons (format nil "Slots (~D):" (length lines))
            (append (first-few (reverse lines) 60)
                    (when (> (length lines) 60) (list "- and more")))))))

(defun class-kind (class)
  (typecase class
    (structure-class :structure)
    (built-in-class :built-in)
    (t (if (subtypep (class-name class) 'condition) :condition :class))))

(defun class-section (symbol)
  (let ((class (find-class symbol nil)))
    (when class
      (call-in-home-package symbol
                            (lambda ()
                              (let ((kind (class-kind class)))
                                `(,(ecase kind
                                     (:structure "Structure") (:built-in "Built-In Class")
                                     (:condition "Condition") (:class "Class"))
                                  #+sbcl
                                  ,@(append
                                     (names-line "Superclasses" (class-names (sb-mop:class-direct-superclasses class)))
                                     (names-line "Subclasses" (class-names (sb-mop:class-direct-subclasses class)))
                                     (when (sb-mop:class-finalized-p class)
                                       (names-line "Precedence list"
                                                   (loop for super in (sb-mop:class-precedence-list class)
                                                         for name = (class-name super)
                                                         unless (eq name 'sbcl:slot-object)
                                                           collect (spelling name))))
                                     (unless (eq kind :built-in) (slot-lines class)))
                                  ,@(unless (member (class-name (class-of class))
                                                    '(standard-class structure-class built-in-class
                                                      #+sbcl sbcl:condition-class))
                                      (list (format nil "Metaclass: ~A" (spelling (class-name (class-of class))))))
                                  ,@(documentation-lines symbol 'type)
                                  ,@(if (eq kind :built-in)
                                        '()
                                        (site-lines symbol (if (eq kind :class) :class kind))))))))))

(defun type-section (symbol)
  (when (and (surely-defined-p :type symbol) (not (find-class symbol nil)))
    `("Type"
      #+sbcl
      ,@(let ((lambda-list (call-in-home-package symbol
                                                 (lambda ()
                                                   (safely (prin1-to-string
                                                            (sb-introspect:deftype-lambda-list symbol)))))))
          (unless (string= lambda-list "NIL") (list (format nil "Parameters: ~A" lambda-list))))
      ,@(documentation-lines symbol 'type) ,@(site-lines symbol :type))))

;;; All of it

(defun symbol-sections (symbol session)
  (remove nil (list (function-section symbol) (setf-section symbol)
                    (variable-section symbol session)
                    (class-section symbol) (type-section symbol)
                    (loss-section symbol session))))

(defun loss-section (symbol session)
  "The section about definitions of SYMBOL by the session that a new image would not have."
  (let ((lines (loop for (key . entry) in (own-entries session)
                     when (and (entry-why entry) (eq symbol (key-symbol key)))
                       collect (format nil "The ~(~A~) has no source: ~A." (car key) (entry-why entry)))))
    (and lines `("Lost If The Image Dies" ,@lines))))

(defun symbol-title (symbol package)
  (let ((home (symbol-package symbol)))
    (if (null home)
        (format nil "~A, without a home package" (spelling symbol))
        (format nil "~A, ~(~A~) symbol of ~A~@[, imported into ~A~]" (spelling symbol)
                (nth-value 1 (find-symbol (symbol-name symbol) home))
                (package-name home)
                (and package
                     (not (eq package home))
                     (not (eq :inherited (nth-value 1 (find-symbol (symbol-name symbol) package))))
                     (package-name package))))))

(defun standard-symbol-name (symbol)
  (and (eq (symbol-package symbol) (find-package '#:common-lisp)) (symbol-name symbol)))

(defun package-meant (text session)
  "The package that TEXT, a name without prefix, names; or NIL."
  (multiple-value-bind (name prefix colons) (parse-name text :upcase)
    (declare (ignore prefix))
    (and (zerop colons)
         (let ((*package* (live-package session)))
           (find-package-named name)))))

(defun name-or-package (text session package)
  "(VALUES NAME MEANT FOUND-IN): the symbol or (SETF SYMBOL) that TEXT names, the package that TEXT
names, also with colons behind it, and the package in which NAME was found.  Without NAME or MEANT
they are NIL."
  (let* ((text (if (find #\\ text) text (string-right-trim ":" text)))
         (meant (and (null (setf-place-name text)) (package-meant text session))))
    (multiple-value-bind (name found-in)
        (if meant
            (handler-case (find-function-name text session package)
              (lookup-failure () nil))
            (find-function-name text session package))
      (values name meant found-in))))
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
;;;; inspect.lisp -- INSPECT-FORM, INSPECT-HANDLE: objects, part by part

(cl:in-package #:swank-mcp)

;;; Handles.  An inspected object has a number.  The newest *HELD* of these objects are kept alive;
;;; older ones live as long as the program itself keeps them.

(defparameter *held* 8)
(defparameter *max-handles* 200)

(defstruct (handle (:copier nil))
  number pointer
  object                    ; the object itself, as long as it is held
  session                   ; at whose reset it is forgotten
  connection                ; of the bridge, at whose end the object is released
  code)                     ; what was evaluated to get it

(defvar *handles* '() "Newest first.")
(defvar *last-handle* 0)

(defun weak-pointer-to (object)
  #+sbcl (sb-ext:make-weak-pointer object) #-sbcl (lambda () object))
(defun pointer-target (pointer)
  "(VALUES OBJECT T), or NIL and NIL if it was garbage."
  #+sbcl (sb-ext:weak-pointer-value pointer) #-sbcl (values (funcall pointer) t))

(defun remember-object (object session code)
  "A new handle's number."
  (let ((pointer (weak-pointer-to object)))
    (with-lock ()
      (push (make-handle :number (incf *last-handle*) :pointer pointer :object object
                         :session session :connection (own-connection)
                         :code (clip code 300))
            *handles*)
      (let ((released (nth *held* *handles*)))
        (when released (setf (handle-object released) nil)))
      (setf *handles* (first-few *handles* *max-handles*))
      *last-handle*)))

(defun forget-handles (session)
  (with-lock ()
    (setf *handles* (remove session *handles* :key #'handle-session))))

(defun release-handles-of (connection)
  "Release the objects that are held for the bridge behind CONNECTION."
  (with-lock ()
    (dolist (handle *handles*)
      (when (eq connection (handle-connection handle))
        (setf (handle-object handle) nil
              (handle-connection handle) nil)))))

(defun handle-text (number) (format nil "obj-~D" number))

(defun designated-handle (designator)
  "7 of 7, \"7\" or \"obj-7\"; NIL of anything else."
  (etypecase designator
    (integer designator)
    (string (let* ((text (string-trim " \"" designator))
                   (digits (if (eql 0 (search "obj-" (string-downcase text))) (subseq text 4) text)))
              (and (plusp (length digits))
                   (every #'digit-char-p digits)
                   (< (length digits) 10)
                   (parse-integer digits))))))

(defun handle-object-or-fail (designator)
  (let* ((number (designated-handle designator))
         (handle (with-lock () (find number *handles* :key #'handle-number))))
    (unless handle
      (fail-lookup "UNKNOWN-HANDLE" '()
                   "There is no handle ~A~@[; the newest is ~A~]. Handles look like obj-1 and last until the ~
                    ~Dth after them, a reset of the session, or the end of the image."
                   (if number (handle-text number) (prin1-to-string (clip designator 60)))
                   (let ((newest (first *handles*)))
                     (and newest (handle-text (handle-number newest))))
                   *max-handles*))
    (multiple-value-bind (object alive) (pointer-target (handle-pointer handle))
      (unless alive
        (fail-lookup "STALE-HANDLE" (list (handle-code handle))
                     "The object of ~A was garbage: the program does not keep it, and ~D others or more were inspected since, or the connection was lost."
                     (handle-text number) *held*))
      object)))

;;; Paths: 2, 0.name, 3k, with a dot between the steps

(defun path-steps (path)
  (let ((text (string-trim '(#\space #\.) path)))
    (loop with start = 0
          while (< start (length text))
          collect (let ((dot (or (position #\. text :start start) (length text))))
                    (prog1 (subseq text start dot) (setf start (1+ dot)))))))

(defparameter *most-labels* 5000 "How many parts are searched for a label.")

