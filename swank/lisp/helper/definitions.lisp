;;;; definitions.lisp -- what a session has defined

(cl:in-package #:swank-mcp)

;;; Two marks tell a session's definitions from all others.  *MACROEXPAND-HOOK*,
;;; bound around each evaluation, sees every defining form that is expanded for
;;; it, also one that a macro of the user's expands to: those are the
;;; candidates.  And SBCL stamps what it defines with SB-C::*SOURCE-PLIST*,
;;; which an evaluation binds to its session: a candidate that somebody else
;;; has redefined since has lost our stamp, and is not ours any more.

(defvar *noted* '()
  "(KEY . FORM) of the definitions that the current top level form has made so
far, newest first; see NOTE-DEFINITION.")

(defvar *noting* t
  "False while definitions are expanded that nobody evaluates.")

(defparameter *defining-operators*
  '((defun . :function) (defmacro . :macro) (define-modify-macro . :macro)
    (define-compiler-macro . :compiler-macro)
    #+sbcl (sb-ext:defglobal . :variable)
    (defvar . :variable) (defparameter . :variable) (defconstant . :constant)
    (define-symbol-macro . :symbol-macro)
    (defclass . :class) (defstruct . :structure) (define-condition . :condition)
    (deftype . :type) (defgeneric . :generic-function) (defmethod . :method)
    (defsetf . :setf-expander) (define-setf-expander . :setf-expander)))

(defun method-designator (form)
  "(NAME QUALIFIERS SPECIALIZERS) of the DEFMETHOD FORM."
  (destructuring-bind (name &rest rest) (rest form)
    (let* ((qualifiers (loop while (and rest (atom (first rest)) (first rest))
                             collect (pop rest)))
           (required (ldiff (first rest)
                            (member-if (lambda (x) (member x lambda-list-keywords))
                                       (first rest)))))
      (list name qualifiers
            (mapcar (lambda (parameter) (if (consp parameter) (second parameter) t))
                    required)))))

(defun defined-by (form)
  "(KIND . NAME) of what the defining FORM defines; NIL for any other form."
  (let ((kind (and (consp form) (symbolp (first form)) (consp (rest form))
                   (cdr (assoc (first form) *defining-operators*)))))
    (when kind
      (let ((name (second form)))
        (case kind
          (:method (cons kind (method-designator form)))
          (:structure (cons kind (if (consp name) (first name) name)))
          (t (cons kind name)))))))

(defun somebodys-p (session form key)
  "True of a DEFVAR, in a person's image, of a variable that has a value of theirs
already: it defines nothing."
  (and (not *launched*)
       (eq (first form) 'defvar)
       (boundp (rest key))
       (not (gethash key (session-definitions session)))))

(defun note-definition (session form)
  (let ((key (ignore-errors (defined-by form))))
    (cond ((or (null key) (null (rest key)) (not *noting*) (somebodys-p session form key)))
          ;; what a file that is being loaded defines belongs to the file
          ((or *load-truename* *compile-file-truename*)
           (remhash key (session-definitions session)))
          (t (push (cons key form) *noted*)
             (enter-definition session key)))))

(defun enter-definition (session key)
  (setf (gethash key (session-definitions session))
        (list (incf (session-definition-count session)))))

(defvar *packages-before* '()
  "The packages there were when the current evaluation began or was resumed.")

(defun call-noting-definitions (session function)
  (let* ((*packages-before* (if *launched* (session-known-packages session) (list-all-packages)))
         (*load-truename* nil) (*load-pathname* nil)
         (expand *macroexpand-hook*)
         (*macroexpand-hook* (lambda (expander form environment)
                               (note-expansion session form)
                               (funcall expand expander form environment)))
         #+sbcl (sb-c::*source-plist*
                  (list* :swank-mcp (session-name session) sb-c::*source-plist*)))
    (unless *launched* (know-systems))  ; a person may have loaded some
    (unwind-protect (funcall function)
      (note-packages session *packages-before*)
      (note-new-systems session))))

;;; The same stamp carries the source text, for those who look it up.

(defparameter *max-source-text* 200000
  "A form with more characters is not kept with what it defines.")

(defun call-with-source-text (text function)
  "Call FUNCTION; what it defines remembers TEXT, the source of a top level form."
  #+sbcl
  (let ((sb-c::*source-plist*
          (if (<= (length text) *max-source-text*)
              (list* :swank-mcp-source text sb-c::*source-plist*)
              sb-c::*source-plist*)))
    (funcall function))
  #-sbcl (progn text (funcall function)))

;;; Packages have no defining form that is worth watching (MAKE-PACKAGE); they
;;; are compared before and after.  One that a file made knows its file, and one
;;; that DEFPACKAGE made has our stamp.  In an image of our own nobody else makes
;;; any, and what there was after the last evaluation need not be asked for again.

(defun package-origin (package)
  "The file that made PACKAGE, and the session whose stamp it has."
  #+sbcl
  (let ((location (ignore-errors (sb-impl::package-source-location package))))
    (and location
         (values (sb-c:definition-source-location-namestring location)
                 (getf (sb-c:definition-source-location-plist location) :swank-mcp))))
  #-sbcl (progn package nil))

(defun package-of-a-file-p (package)
  (and (package-origin package) t))

(defun made-by-p (session package)
  (multiple-value-bind (file owner) (package-origin package)
    (cond ((not *launched*) (not (package-of-somebody-p session package)))
          (file (enter-record package) nil)
          (owner (equal owner (session-name session)))
          (t (not (or (others-work-p session) (others-package-p session package)))))))

(defun others-package-p (session package)
  (with-lock ()
    (loop for other being the hash-values of *sessions*
          thereis (and (not (eq other session))
                       (member package (session-packages other))))))

(defun note-packages (session before)
  (let ((after (list-all-packages)))
    (unless (equal before after)
      (dolist (package (set-difference after before))
        (when (made-by-p session package)
          (pushnew package (session-packages session)))))
    (setf (session-known-packages session) after)))

(defun own-packages (session)
  "The packages that SESSION made and that still are, by name."
  (sort (remove-if-not #'package-name (session-packages session))
        #'string< :key #'package-name))

;;; Is it still so, and still ours?

(defun plain-constant-p (form)
  "True of a form whose value is known without calling anything."
  (typecase form
    (symbol (constantp form))
    (cons (eq (first form) 'quote))
    (t t)))

#+sbcl
(defun specializes-as-p (specializer designator)
  "True if SPECIALIZER, of a method, may be what DESIGNATOR says in its DEFMETHOD.  The
form of an EQL specializer was evaluated once and must not be again."
  (cond ((and (consp designator) (eq (first designator) 'eql))
         (and (typep specializer 'sb-mop:eql-specializer)
              (or (not (plain-constant-p (second designator)))
                  (eql (sb-mop:eql-specializer-object specializer) (eval (second designator))))))
        ((symbolp designator) (eq specializer (find-class designator nil)))
        (t (eq specializer designator))))

#+sbcl
(defun find-specialized-method (function qualifiers specializers)
  (let ((methods (remove-if-not (lambda (method)
                                  (let ((theirs (sb-mop:method-specializers method)))
                                    (and (equal qualifiers (method-qualifiers method))
                                         (= (length theirs) (length specializers))
                                         (every #'specializes-as-p theirs specializers))))
                                (sb-mop:generic-function-methods function))))
    ;; of several for whose EQL we do not know the value, rather one that has our stamp
    (or (find-if #'stamp-of methods) (first methods))))

#-sbcl
(defun find-specialized-method (function qualifiers specializers)
  (let ((classes (mapcar (lambda (name) (and (symbolp name) (find-class name nil))) specializers)))
    (and (notany #'null classes)
         (find-method function qualifiers classes nil))))

(defun find-defined-method (designator)
  (destructuring-bind (name qualifiers specializers) designator
    (when (and (fboundp name) (typep (fdefinition name) 'generic-function))
      (find-specialized-method (fdefinition name) qualifiers specializers))))

(defun definedp (kind name)
  (ecase kind
    (:function (and (fboundp name)
                    (not (typep (fdefinition name) 'generic-function))
                    (not (and (symbolp name) (macro-function name)))))
    (:generic-function (and (fboundp name) (typep (fdefinition name) 'generic-function)))
    (:macro (and (macro-function name) t))
    (:compiler-macro (and (compiler-macro-function name) t))
    ((:variable :constant) (boundp name))
    (:symbol-macro (not (eq name (macroexpand-1 name))))
    ((:class :structure :condition) (and (find-class name nil) t))
    (:type #+sbcl (and (sb-int:info :type :expander name) t) #-sbcl t)
    (:method (and (find-defined-method name) t))
    (:setf-expander #+sbcl (and (sb-int:info :setf :expander name) t) #-sbcl t)))

(defun surely-defined-p (kind name)
  "As DEFINEDP, which says that it may be so where the implementation does not tell."
  (and #-sbcl (not (member kind '(:type :setf-expander)))
       (definedp kind name)))

#+sbcl
(defun variable-stamp (name)
  "As STAMP.  (SETF X 1) leaves none, and a person's DEFPARAMETER takes ours away."
  (let ((source (and (not *launched*)
                     (first (sb-introspect:find-definition-sources-by-name name :variable)))))
    (if source
        (values (getf (sb-introspect:definition-source-plist source) :swank-mcp) t)
        (values nil nil))))

#+sbcl
(defun stamp-of (object)
  (getf (sb-introspect:definition-source-plist (sb-introspect:find-definition-source object))
        :swank-mcp))

(defun stamp (kind name)
  "The session that the definition carries; a second value of NIL if such
definitions carry none."
  #+sbcl
  (case kind
    ((:function :generic-function) (values (stamp-of (fdefinition name)) t))
    (:macro (values (stamp-of (macro-function name)) t))
    (:method (values (stamp-of (find-defined-method name)) t))
    ((:class :structure :condition) (values (stamp-of (find-class name)) t))
    (:variable (variable-stamp name))
    (t (values nil nil)))
  #-sbcl
  (progn kind name (values nil nil)))

(defun interned-p (kind name)
  (let ((symbol (if (eq kind :method) (first name) name)))
    (symbol-package (if (consp symbol) (second symbol) symbol))))

(defun ours-p (session kind name)
  (handler-case
      (and (interned-p kind name)
           (definedp kind name)
           (multiple-value-bind (owner stampedp) (stamp kind name)
             (or (not stampedp) (equal owner (session-name session)))))
    (error () nil)))

(defun forget-definition (session key entry)
  "Forget KEY, which is not so any more, unless it has been defined anew since ENTRY."
  (let ((table (session-definitions session)) (text (rest entry)))
    (when (with-shared-table (table)
            (and (eq entry (gethash key table))
                 (remhash key table)))
      (when text
        (with-lock () (push text (session-gone session)))))))

(defun own-definitions (session)
  "((KIND . NAME) ...) in the order of definition; those no longer so are forgotten."
  (let* ((table (session-definitions session))
         (busy (defining-elsewhere-p session))
         ;; a copy: to ask whether one is so may call code of the user's
         (all (with-shared-table (table)
                (loop for key being the hash-keys of table using (hash-value entry)
                      collect (cons key entry))))
         (found '()))
    (loop for (key . entry) in all
          do (cond ((ours-p session (car key) (cdr key))
                    (push (cons (first entry) key) found))
                   ((not busy)
                    (forget-definition session key entry))))
    (mapcar #'cdr (sort found #'< :key #'car))))
