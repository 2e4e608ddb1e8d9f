;;;; describe.lisp -- what a symbol names, in sections
;;;;
;;;; The folder look/ answers questions about what is in the image: symbols, definitions and their
;;;; callers, systems, objects.  Each file has one or two functions that the bridge calls, except
;;;; views.lisp, which inspect.lisp uses.  It uses the folders before it.  Begin with this file.

(cl:in-package #:swank-mcp)

;;; An answer has sections of lines, ((TITLE LINE ...) ...).  Names in a symbol's lambda list, type
;;; and slots print as in its own package, values as in COMMON-LISP-USER.

(defparameter *max-names* 12 "Names in one line, of subclasses for one.")

(defun call-in-home-package (symbol function)
  "Call FUNCTION in the package of SYMBOL, so that its neighbours print without a prefix."
  (let ((*package* (or (symbol-package symbol) *package*)))
    (when (keywordp symbol) (setf *package* (user-package)))
    (funcall function)))

(defun names-line (label names)
  "\"LABEL: A, B, ... (5 more)\", in a list; empty without names."
  (when names
    (list (format nil "~A: ~{~A~^, ~}~@[ and ~D more~]" label
                  (first-few names *max-names*) (count-beyond names *max-names*)))))

(defun documentation-lines (object kind)
  (let ((text (safely (documentation object kind))))
    (when (and (stringp text) (string/= text ""))
      (list (format nil "Documentation: ~A" (clip text 3000))))))

(defun site-lines (name &rest kinds)
  (loop for site in (loop for kind in kinds append (definition-sites name kind))
        when (site-origin site)
          collect (format nil "Defined in: ~A" (site-line-text site))))

;;; Functions

#+sbcl
(defun function-type-text (name)
  (safely (call-in-home-package (if (symbolp name) name (second name))
                                (lambda () (clip (prin1-to-string (sb-introspect:function-type name)) 500)))))

#+sbcl
(defun method-texts (function)
  (loop for method in (sb-mop:generic-function-methods function)
        collect (format nil "- ~{~A ~}(~{~A~^ ~})"
                        (mapcar #'bounded-text (method-qualifiers method))
                        (mapcar #'specializer-text (sb-mop:method-specializers method)))))

(defun specializer-text (specializer)
  #+sbcl (if (typep specializer 'class)
             (let ((name (class-name specializer)))
               (if (and name (symbolp name)) (spelling name) (bounded-text specializer 100)))
             (format nil "(EQL ~A)" (bounded-text (sb-mop:eql-specializer-object specializer) 100)))
  #-sbcl (bounded-text specializer 100))

(defun method-lines (function)
  (let ((texts (method-texts function)))
    (when texts
      (cons (format nil "Methods (~D):" (length texts)) (clip-lines texts *max-names*)))))

(defun call-text (name)
  "A call of NAME with its lambda list."
  (let ((lambda-list (lambda-list-text name)) (spelled (function-spelling name)))
    (cond ((or (string= lambda-list "") (char/= #\( (char lambda-list 0))
               (string= lambda-list *unknown-lambda-list*))
           (format nil "~A ~A" spelled lambda-list))
          ((string= lambda-list "()") (format nil "(~A)" spelled))
          (t (format nil "(~A ~A" spelled (subseq lambda-list 1))))))

(defun function-remarks (name)
  (append (when (and (symbolp name) (compiler-macro-function name))
            '("It has a compiler macro."))
          #+sbcl
          (when (and (symbolp name) (eq 'inline (sbcl:info :function :inlinep name)))
            '("Declared INLINE."))
          #+sbcl
          (when (ignore-errors (member name (sbcl:%list-traced-funs) :test #'equal))
            '("Traced."))))

(defun function-section (name)
  (cond ((and (symbolp name) (special-operator-p name))
         `("Special Operator" ,(call-text name) ,@(documentation-lines name 'function)))
        ((and (symbolp name) (macro-function name))
         `("Macro" ,(call-text name)
                   ,@(documentation-lines name 'function) ,@(site-lines name :macro)
                   ,@(function-remarks name)))
        ((not (fboundp name)) nil)
        ((typep (fdefinition name) 'generic-function)
         `("Generic Function" ,(call-text name)
                              ,@(method-lines (fdefinition name))
                              ,@(documentation-lines name 'function)
                              ,@(site-lines name :generic-function)))
        (t
         `("Function" ,(call-text name)
                      ,@(let ((type (function-type-text name)))
                          (and type (list (format nil "Type: ~A" type))))
                      ,@(documentation-lines name 'function) ,@(site-lines name :function)
                      ,@(function-remarks name)))))

(defun setf-section (symbol)
  "The section for (SETF SYMBOL), or NIL."
  (let ((name (list 'setf symbol)))
    (cond ((fboundp name) (list* "Setf Function" (rest (function-section name))))
          ((surely-defined-p :setf-expander symbol)
           `("Setf Expander" ,@(documentation-lines symbol 'setf)
                             ,@(site-lines symbol :setf-expander))))))

;;; Variables

(defun global-value (symbol session)
  "(VALUES VALUE BOUNDP) of SYMBOL for code of SESSION at top level."
  (cond ((eq symbol '*package*) (values (live-package session) t))
        ((member symbol *session-variables*) (values (session-variable session symbol) t))
        #+sbcl ((not (ignore-errors (sb-ext:symbol-global-value symbol) t)) (values nil nil))
        #-sbcl ((not (boundp symbol)) (values nil nil))
        (t (values #+sbcl (sb-ext:symbol-global-value symbol) #-sbcl (symbol-value symbol) t))))

(defun variable-kind (symbol)
  #+sbcl (sbcl:info :variable :kind symbol)
  #-sbcl (cond ((constantp symbol) :constant) ((boundp symbol) :special)))

(defun value-lines (symbol session)
  (multiple-value-bind (value boundp) (global-value symbol session)
    (list (if boundp
              (format nil "Value: ~A" (bounded-text value))
              "Unbound."))))

#+sbcl
(defun declared-type-lines (symbol)
  (let ((type (ignore-errors (sbcl:type-specifier (sbcl:info :variable :type symbol)))))
    (when (and type (not (eq type t)))
      (list (format nil "Declared type: ~A" (call-in-home-package symbol (lambda () (bounded-text type))))))))

(defun variable-section (symbol session)
  (let ((kind (variable-kind symbol)))
    (flet ((section (title kind)
             `(,title ,@(value-lines symbol session) ,@(declared-type-lines symbol)
                      ,@(documentation-lines symbol 'variable) ,@(site-lines symbol kind))))
      (cond ((keywordp symbol) nil)
            ((eq kind :constant) (section "Constant" :constant))
            ((eq kind :macro)
             `("Symbol Macro" ,(format nil "Expansion: ~A"
                                       (call-in-home-package
                                        symbol (lambda () (bounded-text (macroexpand-1 symbol)))))
                              ,@(documentation-lines symbol 'variable)
                              ,@(site-lines symbol :symbol-macro)))
            ((eq kind :special) (section "Special Variable" :variable))
            ((or (eq kind :global) (nth-value 1 (global-value symbol session)))
             (section "Global Variable" :variable))))))

;;; Classes and types

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

#+sbcl
(defun parameter-lines (type)
  "A line about the lambda list of the DEFTYPE of TYPE, unless it is empty or not known."
  (let ((lambda-list (ignore-errors (sb-introspect:deftype-lambda-list type))))
    (when (consp lambda-list)
      (list (format nil "Parameters: ~A" (safely (prin1-to-string lambda-list)))))))

(defun type-section (symbol)
  (when (and (surely-defined-p :type symbol) (not (find-class symbol nil)))
    `("Type"
      #+sbcl
      ,@(call-in-home-package symbol (lambda () (parameter-lines symbol)))
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
         (package-seen-from session name))))

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
