;;;; kinds.lisp -- the kinds of definitions: what makes them, which one is there
;;;;
;;;; The folder definitions/ finds out what a session has defined, and keeps the source of it.  It
;;;; uses core/, session/ and systems/.  Its entry is CALL-NOTING-DEFINITIONS of collect.lisp,
;;;; around each evaluation.  Forms that may define something are noted as candidates when they
;;;; are expanded (candidates.lisp).  Later the definitions that exist are compared with those
;;;; before (commit.lisp).  What is new goes into the session's table (definitions.lisp) and to the
;;;; bridge (journal.lisp).  Begin with definitions.lisp.

(cl:in-package #:swank-mcp)

;;; A definition has a key, (KIND . NAME).  NAME is a symbol or (SETF SYMBOL), of a
;;; method (NAME QUALIFIERS SPECIALIZERS), of a hash table test a symbol.

(defparameter *defining-operators*
  '((defun . :function) (defmacro . :macro) (define-modify-macro . :macro)
    (define-compiler-macro . :compiler-macro)
    #+sbcl (sb-ext:defglobal . :variable)
    #+sbcl (sb-ext:define-load-time-global . :variable)
    (defvar . :variable) (defparameter . :variable) (defconstant . :constant)
    (define-symbol-macro . :symbol-macro)
    (defclass . :class) (defstruct . :structure) (define-condition . :condition)
    (deftype . :type) (defgeneric . :generic-function) (defmethod . :method)
    (define-method-combination . :method-combination)
    (defsetf . :setf-expander) (define-setf-expander . :setf-expander)
    #+sbcl (sb-ext:define-hash-table-test . :hash-table-test)
    #+sbcl (sb-alien:define-alien-type . :alien-type)
    #+sbcl (sb-alien:define-alien-variable . :alien-variable)))

(defparameter *once-operators*
  '(defvar #+sbcl sb-ext:defglobal #+sbcl sb-ext:define-load-time-global)
  "Operators that do not change a variable that has a value.")

(defun eql-specializer-form (object)
  `(eql ,(if (or (keywordp object) (not (or (symbolp object) (consp object)))) object `',object)))

(defun keyed-specializer (form)
  "FORM, a specializer of a DEFMETHOD.  In (EQL X) the value takes the place of X if it is known
without calling a function."
  (if (and (consp form) (eq (first form) 'eql) (consp (rest form)))
      (let ((value (second form)))
        (cond ((and (consp value) (eq (first value) 'quote)) (eql-specializer-form (second value)))
              ((symbolp value)
               (if (boundp value) (eql-specializer-form (symbol-value value)) form))
              ((atom value) (eql-specializer-form value))
              (t form)))
      form))

(defun method-designator (form)
  "(NAME QUALIFIERS SPECIALIZERS) of the DEFMETHOD FORM."
  (destructuring-bind (name &rest rest) (rest form)
    (let* ((qualifiers (loop while (and rest (atom (first rest)) (first rest))
                             collect (pop rest)))
           (required (ldiff (first rest)
                            (member-if (lambda (x) (member x lambda-list-keywords))
                                       (first rest)))))
      (list name qualifiers
            (mapcar (lambda (parameter) (if (consp parameter) (keyed-specializer (second parameter)) t))
                    required)))))

(defun alien-name (form)
  "The Lisp name that FORM, (DEFINE-ALIEN-VARIABLE NAME ...), defines."
  (let ((name (second form)))
    (typecase name
      (string (intern (substitute #\- #\_ (string-upcase name))))
      (cons (if (stringp (first name)) (second name) (first name)))
      (t name))))

(defun defined-by (form)
  "(KIND . NAME) of what the defining FORM defines; NIL for any other form."
  (let ((kind (and (consp form) (symbolp (first form)) (consp (rest form))
                   (cdr (assoc (first form) *defining-operators*)))))
    (when kind
      (let ((name (second form)))
        (case kind
          (:method (cons kind (method-designator form)))
          (:structure (cons kind (if (consp name) (first name) name)))
          (:alien-variable (cons kind (alien-name form)))
          (t (cons kind name)))))))

(defun unquoted (form)
  "X if FORM is 'X; else FORM."
  (if (and (consp form) (eq (first form) 'quote)) (second form) form))

(defparameter *definition-places*
  '((fdefinition . :function) (symbol-function . :function) (macro-function . :macro)
    (compiler-macro-function . :compiler-macro) (find-class . :class))
  "Places whose assignment defines.")

(defun assigned-definition (place)
  "The key of what an assignment of PLACE, (FDEFINITION 'NAME) for one, defines."
  (when (and (consp place) (symbolp (first place)) (consp (rest place)))
    (let ((kind (cdr (assoc (first place) *definition-places*))) (name (second place)))
      (when (and kind (consp name) (member (first name) '(quote function)) (consp (rest name)))
        (cons kind (second name))))))

(defun function-symbol (name)
  "The symbol X of the function names X and (SETF X)."
  (if (consp name) (second name) name))

(defun key-symbol (key)
  "The symbol in the name of KEY."
  (destructuring-bind (kind . name) key
    (function-symbol (if (eq kind :method) (first name) name))))

;;; Is there a definition?

(defun plain-constant-p (form)
  "True if the value of FORM is known without calling a function."
  (typecase form
    (symbol (constantp form))
    (cons (eq (first form) 'quote))
    (t t)))

#+sbcl
(defun specializes-as-p (specializer designator)
  "True if SPECIALIZER, of a method, may be DESIGNATOR in its DEFMETHOD.  The form of an EQL
specializer must not be evaluated a second time."
  (cond ((and (consp designator) (eq (first designator) 'eql))
         (and (typep specializer 'sb-mop:eql-specializer)
              (or (not (plain-constant-p (second designator)))
                  (eql (sb-mop:eql-specializer-object specializer) (eval (second designator))))))
        ((symbolp designator) (eq specializer (find-class designator nil)))
        (t (eq specializer designator))))

(defun methods-designated (designator)
  "The methods that DESIGNATOR may mean.  There may be several if the value of an EQL
specializer's form is unknown."
  (destructuring-bind (name qualifiers specializers) designator
    (when (and (fboundp name) (typep (fdefinition name) 'generic-function))
      #+sbcl
      (remove-if-not (lambda (method)
                       (let ((theirs (sb-mop:method-specializers method)))
                         (and (equal qualifiers (method-qualifiers method))
                              (= (length theirs) (length specializers))
                              (every #'specializes-as-p theirs specializers))))
                     (sb-mop:generic-function-methods (fdefinition name)))
      #-sbcl
      (let ((classes (mapcar (lambda (name) (and (symbolp name) (find-class name nil))) specializers)))
        (and (notany #'null classes)
             (let ((method (find-method (fdefinition name) qualifiers classes nil)))
               (and method (list method))))))))

(defun find-defined-method (designator)
  (first (methods-designated designator)))

(defun resolved-designator (designator method)
  "DESIGNATOR with the objects of METHOD's EQL specializers."
  #+sbcl
  (destructuring-bind (name qualifiers specializers) designator
    (list name qualifiers
          (mapcar (lambda (specializer form)
                    (if (typep specializer 'sb-mop:eql-specializer)
                        (eql-specializer-form (sb-mop:eql-specializer-object specializer))
                        form))
                  (sb-mop:method-specializers method) specializers)))
  #-sbcl (progn method designator))

#+sbcl
(defun internal-definition (kind name)
  "SBCL's object for NAME as a KIND that has no standard accessor."
  (ignore-errors
   (ecase kind
     (:type (sbcl:info :type :expander name))
     (:structure (sbcl:info :typed-structure :info name)) ; (DEFSTRUCT (NAME (:TYPE LIST)))
     (:setf-expander (sbcl:info :setf :expander name))
     (:alien-type (sbcl:info :alien-type :definition name))
     (:alien-variable (sbcl:info :variable :alien-info name))
     (:method-combination (gethash name sbcl:**method-combinations**))
     (:hash-table-test (assoc name sbcl:*user-hash-table-tests*)))))

(defun definedp (kind name)
  (case kind
    (:function (and (fboundp name)
                    (not (typep (fdefinition name) 'generic-function))
                    (not (and (symbolp name)
                              (or (macro-function name) (special-operator-p name))))))
    (:generic-function (and (fboundp name) (typep (fdefinition name) 'generic-function)))
    (:macro (and (macro-function name) t))
    (:compiler-macro (and (compiler-macro-function name) t))
    ((:variable :constant) (boundp name))
    (:symbol-macro (not (eq name (macroexpand-1 name))))
    ((:class :condition) (and (find-class name nil) t))
    (:structure (and (or (find-class name nil) #+sbcl (internal-definition kind name)) t))
    (:method (and (methods-designated name) t))
    (t #+sbcl (and (internal-definition kind name) t) #-sbcl t)))

(defun surely-defined-p (kind name)
  "DEFINEDP, but false where the implementation cannot tell."
  (and #-sbcl (not (member kind '(:type :setf-expander :method-combination)))
       (definedp kind name)))

;;; The identity of a definition

#+sbcl
(defun source-location (kind name)
  "SBCL's source location of NAME, for a KIND that is redefined in place.  Each evaluation of
the defining form makes a new one."
  (ignore-errors
   (ecase kind
     ((:variable :constant :symbol-macro) (sbcl:info :source-location kind name))
     (:type (sbcl:info :type :source-location name))
     (:generic-function (sbcl:definition-source (fdefinition name)))
     (:method (sbcl:definition-source (find-defined-method name)))
     (:class (sbcl:definition-source (find-class name)))
     ((:structure :condition)
      (sbcl:classoid-source-location (sbcl:find-classoid name))))))

(defun definition-identity (kind name)
  "A list of objects that identify the definition of NAME: each new definition has others.  NIL
if there is no definition."
  (handler-case
      (case kind
        ;; (DEFVAR X) gives no value, and (SETF X 1) no location
        (:variable #+sbcl (let ((location (source-location kind name)))
                            (and (or location (boundp name)) (list location)))
                   #-sbcl (and (boundp name) (list t)))
        (t (and (definedp kind name)
                (case kind
                  (:function (list (fdefinition name)))
                  (:macro (list (macro-function name)))
                  (:compiler-macro (list (compiler-macro-function name)))
                  (:method (methods-designated name))
                  #+sbcl
                  ((:constant :symbol-macro) (list (source-location kind name)))
                  (:generic-function (list (fdefinition name) #+sbcl (source-location kind name)))
                  (:structure (if (find-class name nil)
                                  (list (find-class name)
                                        #+sbcl (sbcl:find-defstruct-description name))
                                  #+sbcl (list (internal-definition kind name))))
                  ((:class :condition) (list (find-class name) #+sbcl (source-location kind name)))
                  #+sbcl
                  (:method-combination
                   (let ((info (internal-definition kind name)))
                     (list info (sbcl:method-combination-info-source-location info))))
                  (t #+sbcl (list (internal-definition kind name)) #-sbcl (list t))))))
    (error () nil)))

(defun same-identity-p (a b)
  (and (= (length a) (length b)) (every #'eql a b)))
