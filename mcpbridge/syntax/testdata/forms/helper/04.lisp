
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
;;;; listing.lisp -- LIST-DEFINITIONS, LIST-PACKAGES

(cl:in-package #:swank-mcp)

(defparameter *sections*
  '((:function . :functions) (:variable . :variables) (:macro . :macros) (:class . :classes)
    (:generic-function . :generic-functions) (:structure . :structures)
    (:condition . :conditions) (:type . :types) (:constant . :constants)
    (:symbol-macro . :symbol-macros) (:setf-expander . :setf-functions)
    (:compiler-macro . :compiler-macros) (:method-combination . :method-combinations)
    (:hash-table-test . :hash-table-tests) (:alien-type . :alien-types)
    (:alien-variable . :alien-variables))
  "Kind to section; methods stand under their generic function.")

(defparameter *printing-seconds* 2
  "How long all values of a list may take to print.")

(defvar *print-until* nil
  "The time, see MICROSECONDS, when the list stops calling methods to print values.")

(defun value-line (value)
  "The beginning of VALUE, printed by its own PRINT-OBJECT method if that ends soon.  Once the
list has taken too long, no method is called any more."
  (if (and *print-until* (> (microseconds) *print-until*))
      (one-line (show-form value *package*))
      (call-with-time-limit 1/2
                            (lambda () (one-line (bounded-text value 100)))
                            (lambda (lock) (declare (ignore lock)) "#<printing it takes too long>"))))

(defun lambda-list-text (name)
  (safely
    (let ((arglist (swank/backend:arglist #+sbcl (or (and (symbolp name) (macro-function name)) name)
                                          #-sbcl name))
          (*package* *package*) (*print-gensym* nil))
      (cond ((eq arglist :not-available) "(...)")
            ((null arglist) "()")
            (t (let ((parameter (find-if #'ordinary-symbol-p
                                         (mapcar (lambda (item) (if (consp item) (first item) item))
                                                 (if (ignore-errors (list-length arglist)) arglist '())))))
                 (when parameter (setf *package* (symbol-package parameter)))
                 (prin1-to-string arglist)))))))

(defun ordinary-symbol-p (object)
  "True of a parameter's name in whose package a lambda list prints best."
  (and object (symbolp object) (symbol-package object)
       (not (member object lambda-list-keywords))
       (not (eq (symbol-package object) (find-package '#:common-lisp)))))

(defun slot-names-text (class)
  #+sbcl (safely (let ((*package* (or (symbol-package (class-name class)) *package*)))
                   (format nil "(~{~S~^ ~})"
                           (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))))
  #-sbcl (progn class ""))

(defun definition-line (kind name)
  (let ((text (name-text name)))
    (flet ((with (more) (format nil "~A ~A" text more)))
      (case kind
        ((:function :macro :generic-function :compiler-macro)
         (with (lambda-list-text name)))
        ((:variable :constant) (format nil "~A = ~A" text (value-line (symbol-value name))))
        (:symbol-macro (format nil "~A = ~A" text (value-line (macroexpand-1 name))))
        (:structure (if (find-class name nil) (with (slot-names-text (find-class name))) text))
        (t text)))))

(defun definition-line-and-loss (session kind name)
  (let ((why (why-lost session (cons kind name))))
    (format nil "~A~@[ ; no source: ~A~]" (definition-line kind name)
            (and why (string/= why *assigned-why*) why))))

(defun method-line (designator)
  (destructuring-bind (name qualifiers specializers) designator
    (declare (ignore name))
    (safely (format nil "  ~{~S ~}~:S" qualifiers specializers))))

(defun section-of (kind name)
  (if (and (eq kind :function) (consp name))
      :setf-functions
      (cdr (assoc kind *sections*))))

(defun generic-lines (definitions)
  "A line for each generic function that was defined or got methods, and one for each of these
methods."
  (let ((names (sort (remove-duplicates
                      (loop for (kind . name) in definitions
                            when (eq kind :generic-function) collect name
                            when (eq kind :method) collect (first name))
                      :test #'equal)
                     #'string< :key #'name-text)))
    (loop for name in names
          collect (definition-line :generic-function name)
          append (sort (loop for (kind . designator) in definitions
                             when (and (eq kind :method) (equal (first designator) name))
                               collect (method-line designator))
                       #'string<))))

(defun definitions-by-section (session &optional package)
  "Alist of section to its lines, sorted, without empty sections; with PACKAGE, only of its names."
  (let ((definitions (remove-if-not (lambda (key)
                                      (or (null package)
                                          (eq package (symbol-package (key-symbol key)))))
                                    (own-definitions session)))
        (lines (make-hash-table)))
    (loop for (kind . name) in definitions
          unless (member kind '(:method :generic-function))
            do (push (definition-line-and-loss session kind name)
                     (gethash (section-of kind name) lines)))
    (let ((generic (generic-lines definitions))
          (packages (if package '() (mapcar #'package-name (own-packages session))))
          (systems (if package '() (mapcar #'string-upcase (session-systems session)))))
      (append (loop for section being the hash-keys of lines using (hash-value found)
                    collect (cons section (sort found #'string<)))
              (and generic (list (cons :generic-functions generic)))
              (and packages (list (cons :packages packages)))
              (and systems (list (cons :loaded-systems (sort systems #'string<))))))))

(defun list-definitions (&optional (session "default") package)
  "((SECTION LINE ...) ...): what SESSION has defined and is still so, in all
packages or the one called PACKAGE.  ((\"unknown-package\" TEXT)) if there is none."
  (let ((found (and package (find-package-named package)))
        (*print-until* (+ (microseconds) (* 1000000 *printing-seconds*))))
    (call-with-listing-syntax
     (lambda ()
       (answer (if (and package (null found))
                   (list (list "unknown-package" (unknown-package-text package)))
                   (loop for (section . lines) in (definitions-by-section (ensure-session session) found)
                         collect (cons (string-downcase section) lines))))))))

(defun list-packages (&optional (session "default"))
  "((NAME NICKNAMES EXTERNAL-COUNT CURRENTP OWNP IMPLEMENTATIONP) ...), by name: whether
it is the session's package, one that the session made, one of the Lisp system's."
  (let* ((session (ensure-session session))
         (current (live-package session)))
    (answer
     (sort (loop for package in (list-all-packages)
                 collect (list (package-name package)
                               (package-nicknames package)
                               (let ((count 0))
                                 (do-external-symbols (symbol package count)
                                   (declare (ignore symbol))
                                   (incf count)))
                               (eq package current)
                               (and (member package (session-packages session)) t)
                               (and (internal-package-p package) t)))
           #'string< :key #'first))))
;;;; loaded-systems.lisp -- the systems that a session has loaded

(cl:in-package #:swank-mcp)

(defvar *known-systems* '() "The systems that were loaded when ASDF knew *REGISTERED* of them.")
(defvar *registered* 0 "How many systems ASDF knew when *KNOWN-SYSTEMS* was set.")

(defun note-known-systems ()
  "Systems already loaded belong to no session."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (unfindable-files name)) (evaluation-loaded *evaluation*)))))

(defun note-new-systems (session)
  "Add the systems that were loaded by any code to those of SESSION, without the ones that they
needed.  While another session evaluates, the last to end does this."
  (let ((registered (registered-systems)))
    (unless (or (= registered *registered*) (others-work-p session))
      (let* ((loaded (loaded-systems))
             (new (remove-if #'asdf-itself-p
                             (set-difference loaded *known-systems* :test #'string=)))
             (needed (mapcan #'direct-dependencies new)))
        (setf *registered* registered
              *known-systems* loaded)
        (dolist (name (set-difference new needed :test #'string=))
          (unless (member name (session-systems session) :test #'string=)
            (note-system session name)))))))

(defun note-loaded (session designator)
  "Note that SESSION has loaded the system DESIGNATOR; what that has added to packages joins the
baseline."
  (let ((name (unquoted designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (string-downcase name))))
  (loading-ended (shiftf (session-before-load session) nil)))

(defun load-system-in (session name load)
  "Call LOAD, which loads the system NAME, and note that SESSION has loaded it."
  (setf (session-before-load session) (before-loading))
  (funcall load)
  (note-loaded session name))
;;;; packages.lisp -- packages that a session makes, features that it adds, its readtable

(cl:in-package #:swank-mcp)

;;; Many operators, most of them functions, make and change packages.  So packages are compared
;;; before and after.  If a plain form at top level, such as DEFPACKAGE, has changed one, its
;;; source is that form.  Otherwise it is a DEFPACKAGE made from the package as it is now.

(defparameter *package-operators*
  '(defpackage use-package unuse-package import export unexport shadow
    shadowing-import rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package)
  "Operators whose calls at top level change packages.")

(defparameter *package-makers* '(defpackage rename-package delete-package)
  "Those that are not read in the current package: it may be the one that they make.")

(defun form-source (form package)
  "FORM printed so that it can be read again in PACKAGE; NIL if it cannot."
  (with-standard-io-syntax
    ;; only the pretty printer of SBCL prints a backquote as such
    (let ((*package* package) (*print-circle* t)
          (*print-pretty* t) (*print-right-margin* 100) (*print-miser-width* nil))
      (ignore-errors (prin1-to-string form)))))

#+sbcl
(defun package-origin (package)
  "The file that made PACKAGE, and the name of the session in its source location."
  (let ((location (ignore-errors (sbcl:package-source-location package))))
    (and location
         (values (sbcl:definition-source-location-namestring location)
                 (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))

(defun package-of-a-file-p (package)
  (and (package-origin package) t))

(defun made-by-p (session package)
  (multiple-value-bind (file owner) (package-origin package)
    (cond ((not *launched*) (not (persons-package-p session package)))
          (file (enter-record package) nil)
          (owner (equal owner (session-name session)))
          (t (not (or (others-work-p session) (others-package-p session package)))))))

(defun others-package-p (session package)
  (with-lock ()
    (loop for other being the hash-values of *sessions*
          thereis (and (not (eq other session))
                       (member package (session-packages other))))))

(defun note-packages (session before)
  (let ((after (all-packages)))
    (unless (equal before after)
      (dolist (package (set-difference after before))
        (when (made-by-p session package)
          (pushnew package (session-packages session)))))
    (setf (session-known-packages session) after)))

(defun still-own-package-p (session package)
  "False if a file that is not the session's has defined PACKAGE again."
  (let ((file (package-origin package)))
    (or (null file) (not *launched*) (member file (session-files session) :test #'string=))))

