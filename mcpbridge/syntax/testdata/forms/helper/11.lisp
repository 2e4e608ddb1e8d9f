
(defun definition-plist (key)
  "(VALUES PLIST FILE) of SBCL's record of the place of the definition KEY.  FILE is the one that it
was loaded from, or NIL if that is gone, as that of COMPILE-SOURCE is."
  #+sbcl
  (destructuring-bind (kind . name) key
    (let* ((source (ignore-errors
                    (if (eq kind :method)
                        (sb-introspect:find-definition-source (find-defined-method name))
                        (first (definition-sources name kind)))))
           (file (and source (sb-introspect:definition-source-pathname source))))
      (values (and source (sb-introspect:definition-source-plist source))
              (and file (ignore-errors (probe-file (translate-logical-pathname file)))))))
  #-sbcl (progn key (values nil nil)))

(defun kept-in-file-p (key) (nth-value 1 (definition-plist key)))

(defun source-of-key (session key)
  "(VALUES TEXT PACKAGE-NAME WHY): the source of the top level form whose evaluation by SESSION has
made the definition KEY, and the package in which it was read; or NIL, NIL and why that is not
known."
  (let* ((plist (definition-plist key))
         (text (getf plist :swank-mcp-source)) (package (getf plist :swank-mcp-package)))
    (cond ((not (and (stringp text) (stringp package)))
           (values nil nil
                   (or (why-lost session key)
                       #+sbcl (format nil "its source is not kept; that of a form with more than ~:D characters is not"
                                      *max-source-text*)
                       #-sbcl "this Lisp keeps no source with what it defines")))
          ((or (readtable-changed-p session)
               (/= 10 (session-variable session '*read-base*))
               (not (eq 'single-float (session-variable session '*read-default-float-format*))))
           (values nil nil "this session reads code otherwise than a file is read: its readtable, *READ-BASE* or *READ-DEFAULT-FLOAT-FORMAT* was changed"))
          (t (values text package nil)))))

(defun key-names (key)
  "(VALUES SETFP QUALIFIERS SPECIALIZERS) of KEY, the lists as the names of symbols."
  (flet ((text (object)
           (cond ((symbolp object) (symbol-name object))
                 (t (with-standard-io-syntax
                      (let ((*print-readably* nil)) (prin1-to-string object)))))))
    (destructuring-bind (kind . name) key
      (if (eq kind :method)
          (values (consp (first name)) (mapcar #'text (second name)) (mapcar #'text (third name)))
          (values (consp name) '() '())))))

(defun file-key (key)
  "KEY as the records of files have it."
  (if (eq (car key) :method)
      (method-key (find-defined-method (cdr key)))
      (namespace-of key)))

(defun accessible-in (symbol)
  "The names and nicknames of the packages in which the name of SYMBOL means SYMBOL."
  (loop for package in (list-all-packages)
        when (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
               (and status (eq found symbol)))
          append (cons (package-name package) (package-nicknames package))))

(defun session-keys (session name)
  "The keys of what SESSION has defined as NAME, a symbol or (SETF SYMBOL), and not in a file."
  (let* ((symbol (function-symbol name))
         (keys (loop for (key) in (own-entries session)
                     when (and (eq symbol (key-symbol key))
                               (or (symbolp name) (key-names key)))
                       collect key))
         (variable (cons :variable symbol)))
    ;; a DEFVAR that found a value has defined nothing, but says how the variable is defined
    (when (and (symbolp name)
               (notany (lambda (key) (eq :variable (car (namespace-of key)))) keys)
               (equal (session-name session) (getf (definition-plist variable) :swank-mcp)))
      (push variable keys))
    (remove-if #'kept-in-file-p keys)))

(defun loaded-source (key)
  "(VALUES TEXT FILE) of the form or forms that the definition KEY was loaded from, or NIL."
  (let ((origin (loaded-definition (file-key key))))
    (or-values
     (and origin (values (origin-text origin) (origin-file origin)))
     (loaded-form (file-key key)) ; a person's image had another definition of it
     (loaded-calls (string (key-symbol key))))))

(defun source-for-wire (session key)
  (multiple-value-bind (text package why) (source-of-key session key)
    (multiple-value-bind (setfp qualifiers specializers) (key-names key)
      (multiple-value-bind (loaded file) (loaded-source key)
        (plist-without-nils
         :kind (string-downcase (car key)) :label (key-label key)
         :setf setfp :qualifiers qualifiers :specializers specializers
         :text text :package package :why why
         :file file :loaded loaded)))))

(defun session-sources (text &key (session "default") package)
  "Answer about what SESSION has defined as the name that TEXT names:
  (:NAME NAME :PACKAGES NAMES :FEATURES NAMES
   :DEFINITIONS ((:KIND KIND :LABEL TEXT :SETF BOOLEAN :QUALIFIERS TEXTS :SPECIALIZERS TEXTS
                  :TEXT SOURCE :PACKAGE NAME :WHY TEXT :FILE FILE :LOADED SOURCE) ...)
   :PLACES LINES)
PACKAGES are those in which NAME means the symbol.  WHY is there instead of TEXT.  FILE had the
definition when it was loaded, in the top level form LOADED, or made by one of the
calls in it.  PLACES are where the name is defined,
if the session has not defined it."
  (with-look-up (session)
    (ignore-errors (adopt-loaded-files))
    (let* ((name (find-function-name text session package))
           (symbol (function-symbol name))
           (keys (session-keys session name)))
      (plist-without-nils
       :name (symbol-name symbol)
       :packages (accessible-in symbol)
       :features (loop for feature in *features*
                       when (symbolp feature) collect (symbol-name feature))
       :definitions (loop for key in keys collect (source-for-wire session key))
       :places (and (null keys)
                    (loop for (title place) in (definition-sections name)
                          collect (format nil "~A: ~A" title place)))))))

(defun definition-written (text file labels &key (session "default") package)
  "FILE, a native name, has now those of LABELS, ((LABEL) ...), that SESSION has defined as the name that TEXT
names: they count as loaded from there."
  (with-look-up (session)
    (let ((keys (loop for key in (session-keys session (find-function-name text session package))
                      when (member (key-label key) labels :key #'first :test #'string=)
                        collect (file-key key)))
          (version (file-version file)))
      (when version
        (note-written file version keys))
      (list :noted (and version t)))))

(defun symbol-token-p (text)
  "True of a token that is no number, dot or character."
  (not (or (string= text "")
           (string= text ".")
           (find (char text 0) "#0123456789")
           (and (> (length text) 1)
                (find (char text 0) "+-.")
                (digit-char-p (char text 1))))))

(defun symbol-meant (token package)
  "What the token TOKEN means in PACKAGE, in a list; NIL if it is not there."
  (multiple-value-bind (name prefix) (parse-name token :upcase)
    (let ((home (if prefix
                    (let ((*package* package)) (find-package-named prefix)) ; its local nicknames
                    package)))
      (multiple-value-bind (symbol status) (and home (find-symbol name home))
        (and status (list symbol))))))

(defun unlike-tokens (text one other)
  "The symbols in TEXT, as written, that the packages ONE and OTHER do not read as the same."
  (let ((unlike '()))
    (labels ((same-p (token)
               (handler-case (let ((meant (symbol-meant token one)))
                               (and meant (equal meant (symbol-meant token other))))
                 (lookup-failure () t))) ; no symbol
             (walk (datum)
               (cond ((consp datum) (mapc #'walk datum))
                     ((and (token-p datum)
                           (symbol-token-p (token-text datum))
                           (not (same-p (token-text datum))))
                      (pushnew (token-text datum) unlike :test #'string-equal)))))
      (loop with at = 0
            do (multiple-value-bind (datum begin end) (scan-datum text at)
                 (when (null begin) (return (nreverse unlike)))
                 (walk datum)
                 (setf at end))))))

(defun read-unlike (text one other &key (session "default"))
  "Answer (:NAMES TOKENS): at most five symbols in TEXT that the packages called ONE and OTHER do not
read as the same; or (:MISSING NAME) if there is no package of that name."
  (with-look-up (session)
    (let ((missing (find-if-not #'find-package (list one other))))
      (if missing
          (list :missing missing)
          (plist-without-nils
           :names (first-few (unlike-tokens text (find-package one) (find-package other)) 5))))))
;;;; views.lisp -- the facts and parts of objects of each kind

(cl:in-package #:swank-mcp)

(defstruct (part (:constructor make-part (label value &key (boundp t) (why "unbound") key setter))
                 (:copier nil))
  label value boundp
  why                       ; why there is no value, in words
  (key nil)                 ; NIL or (KEY) of an entry of a hash table
  setter)                   ; function of a new value, or NIL

(defstruct (view (:copier nil))
  (facts '())               ; ((NAME . TEXT) ...)
  (count 0)                 ; of parts
  (range (constantly '()))  ; function of two positions: the parts between them
  text                      ; of a string
  (notes '()))

(defun view-of-parts (parts &key facts notes)
  (make-view :facts facts :notes notes :count (length parts)
             :range (lambda (start end) (subseq parts start end))))

(defun list-shape (list)
  "(VALUES LENGTH END): the number of conses, and the CDR of the last; :CIRCULAR if there is none."
  (let ((slow list) (fast list) (count 0))
    (loop (unless (consp fast) (return (values count fast)))
          (unless (consp (cdr fast)) (return (values (1+ count) (cdr fast))))
          (setf fast (cddr fast) slow (cdr slow))
          (incf count 2)
          (when (eq slow fast)          ; SLOW is as far into the circle as LIST is before it
            (return (values (+ (loop for from-start = list then (cdr from-start)
                                     until (eq from-start slow)
                                     count t
                                     do (setf slow (cdr slow)))
                               (loop for rest = (cdr slow) then (cdr rest)
                                     count t
                                     until (eq rest slow)))
                            :circular))))))

(defgeneric object-view (object)
  (:documentation "The view of OBJECT: facts and parts.")
  (:method (object)
    (let ((slots (ignore-errors (instance-slots object))))
      (view-of-parts slots))))

#+sbcl
(defun instance-slots (object)
  (loop for slot in (sb-mop:class-slots (class-of object))
        collect (slot-part object (sb-mop:slot-definition-name slot))))

(defun slot-part (object name)
  "The slot NAME of OBJECT as a part.  Methods of its metaclass may be called, and may fail."
  (flet ((part (value &rest more)
           (apply #'make-part (symbol-name name) value
                  :setter (lambda (value) (setf (slot-value object name) value))
                  more)))
    (handler-case (if (slot-boundp object name)
                      (part (slot-value object name))
                      (part nil :boundp nil))
      (serious-condition (condition)
        (part nil :boundp nil
                  :why (format nil "reading it failed: ~A: ~A" (type-label condition)
                               (clip (first-line (condition-text condition)) 100)))))))

(defmethod object-view ((list cons))
  (multiple-value-bind (count end) (list-shape list)
    (let ((tailed (and end (not (eq end :circular)))))
      (make-view
       :facts (list (cons "Length" (format nil "~:D~@[ ~A~]" count
                                           (cond ((eq end :circular) "and circular")
                                                 (tailed "and a tail that is no list")))))
       :count (if tailed (1+ count) count)
       :range (lambda (from to)
                (append (loop for i from from below (min to count)
                              for rest on (nthcdr from list)
                              collect (let ((rest rest))
                                        (make-part nil (car rest)
                                                   :setter (lambda (value) (setf (car rest) value)))))
                        (when (and tailed (> to count))
                          (list (make-part "tail" end
                                           :setter (lambda (value) (setf (cdr (last list)) value)))))))))))

(defmethod object-view ((array array))
  (make-view
   :facts (append (list (cons "Dimensions" (format nil "~{~D~^ by ~}" (array-dimensions array)))
                        (cons "Element type" (brief (array-element-type array))))
                  (when (array-has-fill-pointer-p array)
                    (list (cons "Fill pointer" (format nil "~D" (fill-pointer array)))))
                  (when (adjustable-array-p array) (list (cons "Adjustable" "yes")))
                  (when (array-displacement array)
                    (list (cons "Displaced to" (brief (array-displacement array))))))
   :count (array-total-size array)
   :range (lambda (from to)
            (loop for i from from below to
                  collect (let ((i i))
                            (make-part (and (/= 1 (array-rank array)) (subscripts-text array i))
                                       (row-major-aref array i)
                                       :setter (lambda (value) (setf (row-major-aref array i) value))))))))

(defun subscripts-text (array index)
  (let ((subscripts '()))
    (dolist (dimension (reverse (array-dimensions array)) (format nil "[~{~D~^,~}]" subscripts))
      (multiple-value-bind (rest subscript) (floor index dimension)
        (push subscript subscripts)
        (setf index rest)))))

(defmethod object-view ((string string))
  (make-view :facts (list (cons "Length" (format nil "~:D" (length string)))
                          (cons "Type" (brief (type-of string))))
             :text (subseq string 0 (min 4000 (length string)))
             :notes (when (> (length string) 4000) '("The first 4,000 characters are shown."))))

(defmethod object-view ((table hash-table))
  (make-view
   :facts (append (list (cons "Test" (brief (hash-table-test table)))
                        (cons "Count" (format nil "~:D" (hash-table-count table))))
                  #+sbcl
                  (when (sb-ext:hash-table-weakness table)
                    (list (cons "Weakness" (brief (sb-ext:hash-table-weakness table)))))
                  #+sbcl
                  (when (sb-ext:hash-table-synchronized-p table) (list (cons "Synchronized" "yes"))))
   :count (hash-table-count table)
   :range (lambda (from to)
            (let ((i -1) (found '()))
              (block walk
                (maphash (lambda (key value)
                           (when (>= (incf i) to) (return-from walk))
                           (when (>= i from)
                             (push (make-part (brief key) value :key (list key)
                                              :setter (lambda (value) (setf (gethash key table) value)))
                                   found)))
                         table))
              (nreverse found)))))

(defmethod object-view ((symbol symbol))
  (view-of-parts
   (append (when (boundp symbol)
             (list (make-part "value" (symbol-value symbol)
                              :setter (unless (constantp symbol)
                                        (lambda (value) (setf (symbol-value symbol) value))))))
           (cond ((macro-function symbol) (list (make-part "macro" (macro-function symbol))))
                 ((special-operator-p symbol) '())
                 ((fboundp symbol) (list (make-part "function" (fdefinition symbol)))))
           (when (fboundp `(setf ,symbol))
             (list (make-part "setf" (fdefinition `(setf ,symbol)))))
           (when (find-class symbol nil) (list (make-part "class" (find-class symbol))))
           (when (symbol-package symbol) (list (make-part "package" (symbol-package symbol))))
           (when (symbol-plist symbol) (list (make-part "plist" (symbol-plist symbol)))))
   :facts (list (cons "Name" (brief (symbol-name symbol))))))

(defmethod object-view ((function function))
  #+sbcl
  (view-of-parts
   (append (when (typep function 'sb-mop:funcallable-standard-object)
             (ignore-errors (instance-slots function)))
           (when (sbcl:closurep function)
             (mapcar (lambda (value) (make-part "closed over" (closed-over-value value)))
                     (sbcl:%closure-values function))))
   :facts (list (cons "Name" (brief (sbcl:%fun-name function)))
                (cons "Lambda list" (brief (swank/backend:arglist function)))
                (cons "Type" (brief (sbcl:%simple-fun-type (sbcl:%fun-fun function))))))
  #-sbcl (make-view))

#+sbcl
(defun closed-over-value (value)
  "The value of a closed-over variable.  One that is assigned is in a value cell."
  (if (sb-sys:with-pinned-objects (value) (eql (sbcl:widetag-of value) sbcl:value-cell-widetag))
      (sbcl:value-cell-ref value)
      value))

(defmethod object-view ((generic generic-function))
  #+sbcl
  (view-of-parts
   (list (make-part "methods" (sb-mop:generic-function-methods generic))
         (make-part "method combination" (sb-mop:generic-function-method-combination generic))
         (make-part "method class" (sb-mop:generic-function-method-class generic)))
   :facts (list (cons "Name" (brief (sb-mop:generic-function-name generic)))
                (cons "Lambda list" (brief (sb-mop:generic-function-lambda-list generic)))))
  #-sbcl (make-view))

(defmethod object-view ((class class))
  #+sbcl
  (view-of-parts
   (append (list (make-part "direct superclasses" (sb-mop:class-direct-superclasses class))
                 (make-part "direct subclasses" (sb-mop:class-direct-subclasses class))
                 (make-part "direct slots" (sb-mop:class-direct-slots class))
                 (make-part "direct methods" (sb-mop:specializer-direct-methods class)))
           (when (sb-mop:class-finalized-p class)
             (list (make-part "precedence list" (sb-mop:class-precedence-list class))
                   (make-part "slots" (sb-mop:class-slots class)))))
   :facts (list (cons "Name" (brief (class-name class)))
                (cons "Metaclass" (brief (class-name (class-of class))))
                (cons "Finalized" (if (sb-mop:class-finalized-p class) "yes" "no"))))
  #-sbcl (make-view))

(defmethod object-view ((package package))
  (let ((externals 0) (present 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq (symbol-package symbol) package) (incf present)))
    (view-of-parts
     (list (make-part "uses" (package-use-list package))
           (make-part "used by" (package-used-by-list package))
           (make-part "shadowing" (package-shadowing-symbols package)))
     :facts (list (cons "Name" (package-name package))
                  (cons "Nicknames" (format nil "~{~A~^, ~}" (package-nicknames package)))
                  (cons "Symbols" (format nil "~:D of its own, ~:D external" present externals))))))

(defmethod object-view ((integer integer))
  (make-view :facts (append (list (cons "Bits" (format nil "~:D" (integer-length integer))))
                            (when (< (integer-length integer) 300)
                              (list (cons "Hexadecimal" (format nil "~X" integer))
                                    (cons "Binary" (format nil "~B" integer))))
                            (when (< -1 integer char-code-limit)
                              (list (cons "Character" (brief (code-char integer))))))))

(defmethod object-view ((ratio ratio))
  (view-of-parts (list (make-part "numerator" (numerator ratio))
                       (make-part "denominator" (denominator ratio)))
                 :facts (list (cons "Float" (brief (ignore-errors (float ratio 1d0)))))))

(defmethod object-view ((float float))
  (make-view :facts (ignore-errors
                     (multiple-value-bind (significand exponent sign) (integer-decode-float float)
                       (list (cons "Exactly" (format nil "~:[~;-~]~D * 2^~D" (minusp sign) significand exponent))
                             (cons "Rational" (brief (rational float))))))))

