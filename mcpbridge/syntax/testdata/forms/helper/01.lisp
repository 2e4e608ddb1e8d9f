;;;; baseline.lisp -- what a launched image contained before any session

(cl:in-package #:swank-mcp)

;;; For each package that can be changed the baseline records its symbols with their status,
;;; and the packages it uses.  What a loaded system adds joins the baseline, so that a reset
;;; keeps it.  KEYWORD is left out, because keywords have no owner, and so is the package into
;;; which Swank reads.

(defstruct (package-record (:conc-name record-) (:copier nil))
  (symbols (make-hash-table :test 'eq)) ; to :INTERNAL or :EXTERNAL
  (uses '()))

(defun tracked-package-p (package)
  (not (or (implementation-package-p package)
           #+sbcl (sb-ext:package-locked-p package)
           (member (package-name package) '("KEYWORD" "SWANK-IO-PACKAGE") :test #'string=))))

(defun record-package (package)
  (let ((record (make-package-record :uses (package-use-list package))))
    (call-with-present-symbols
     (lambda (symbol status) (setf (gethash symbol (record-symbols record)) status))
     package)
    record))

(defun record-packages ()
  "A hash table from each package that can be changed to its record."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (package (list-all-packages) table)
      (when (tracked-package-p package)
        (setf (gethash package table) (record-package package))))))

(defun before-loading ()
  "The records that LOADING-ENDED needs from before a system is loaded; none in a fresh image, which
is not reset."
  (and *launched* *baseline* (null *own-systems*) (record-packages)))

(defun loading-ended (before)
  "Add to the baseline what the packages have gained since BEFORE."
  (when before
    (let ((own (own-symbols)))
      (dolist (package (list-all-packages))
        (when (tracked-package-p package)
          (let ((old (gethash package before)))
            (if old
                (join-record (gethash package *baseline*) old package own)
                (enter-record package))))))))

(defun names-something-p (symbol)
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil)))

(defun own-symbols ()
  "A hash table of the symbols that name definitions of the sessions."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (session (with-lock () (loop for session being the hash-values of *sessions*
                                         collect session))
                     table)
      (loop for (key) in (own-entries session)
            do (setf (gethash (key-symbol key) table) t)))))

(defun enter-record (package)
  "Add PACKAGE with all its symbols to the baseline."
  (when (and *launched* *baseline* (tracked-package-p package))
    (setf (gethash package *baseline*) (record-package package))))

(defun join-record (record old package own)
  "Add to RECORD the symbols that PACKAGE has gained since OLD, and those that name something
which no session has defined; OWN has the sessions' own symbols."
  (when record
    (call-with-present-symbols
     (lambda (symbol status)
       (when (or (not (gethash symbol (record-symbols old)))
                 (and (not (gethash symbol (record-symbols record)))
                      (not (gethash symbol own))
                      (names-something-p symbol)))
         (setf (gethash symbol (record-symbols record)) status)))
     package)
    (dolist (used (set-difference (package-use-list package) (record-uses old)))
      (pushnew used (record-uses record)))))

(defun restore-package (package record attempt)
  "Put PACKAGE back as RECORD has it; symbols that have gone stay away."
  (dolist (used (set-difference (package-use-list package) (record-uses record)))
    (funcall attempt (package-name used) (lambda () (unuse-package used package))))
  (let ((changed '()))
    (call-with-present-symbols
     (lambda (symbol status)
       (unless (eq status (gethash symbol (record-symbols record)))
         (push symbol changed)))
     package)
    (dolist (symbol changed)
      (let ((symbol symbol))
        (funcall attempt (symbol-name symbol)
                 (lambda ()
                   (case (gethash symbol (record-symbols record))
                     ((nil) (unintern symbol package))
                     (:internal (unexport symbol package))
                     (:external (export symbol package)))))))))

(defun restore-packages (attempt)
  (loop for package being the hash-keys of *baseline* using (hash-value record)
        if (package-name package)
          do (restore-package package record attempt)
        else collect package into deleted
        finally (dolist (package deleted) (remhash package *baseline*))))
;;;; bridge-definitions.lisp -- redefinitions of functions that the bridge needs

(cl:in-package #:swank-mcp)

;;; Such a definition is evaluated as the user wants.  It is not restored into a new image,
;;; where it would break the bridge again.

(defparameter *bridge-packages*
  (loop for package in (list-all-packages)
        for name = (package-name package)
        when (eql 0 (search "SWANK" name)) collect name)
  "The names of Swank's packages and ours.  A user's library may have a name like these.")

(defun bridge-package-p (package)
  (and package
       (or (member (package-name package) *bridge-packages* :test #'string=)
           (implementation-package-p package))))

(defun system-symbol-p (symbol)
  "True of symbols of the Lisp system, of Swank and of the helper."
  (and (symbolp symbol)
       symbol
       (let ((package (symbol-package symbol)))
         (or (eq package (find-package '#:common-lisp)) (bridge-package-p package)))))

(defun bridge-key-p (key)
  "True if the bridge may depend on the definition KEY, (KIND . NAME): a function of the
system's, Swank's or ours, or a method of such a function that applies to objects of all
kinds.  A PRINT-OBJECT method for a class of the user's is the user's."
  (destructuring-bind (kind . name) key
    (case kind
      ((:package :system :form) nil)
      (:method
       (destructuring-bind (function qualifiers specializers) name
         (and (system-symbol-p (function-symbol function))
              (every #'system-symbol-p specializers)
              (or (bridge-package-p (symbol-package (function-symbol function)))
                  qualifiers
                  (member (first specializers) '(t standard-object structure-object))))))
      ((:variable :constant) (and (symbolp name) (bridge-package-p (symbol-package name))))
      (t (system-symbol-p (function-symbol name))))))
;;;; candidates.lisp -- forms that may define something, noted as they are expanded

(cl:in-package #:swank-mcp)

;;; Variables that an assignment creates.  list-definitions lists them like others.  But they
;;; have no definition that a new image could evaluate, so the bridge reports them as lost when
;;; the image dies.

(defparameter *assigned-why* "an assignment made it"
  "The reason by which the bridge recognises such a variable.")

(defun note-assignment (session place &optional environment)
  "Remember PLACE if assigning it creates a variable."
  (when (and (consp place) (eq (first place) 'symbol-value) (consp (rest place))
             (consp (second place)) (eq (first (second place)) 'quote))
    (setf place (second (second place))))
  (when (and (symbolp place) place (not (keywordp place))
             (not (boundp place))
             (not (eq (symbol-package place) (find-package '#:common-lisp)))
             (not (member place (lexical-names environment))))
    (with-lock () (pushnew place (session-assigned session)))))

(defun note-assignments (session form)
  "Remember the variables that FORM creates by (SETQ X 1) or (SET 'X 1); SETF is noted when it
is expanded."
  (when (and (consp form) (ignore-errors (list-length form)))
    (case (first form)
      (progn (dolist (part (rest form)) (note-assignments session part)))
      ((setf setq) (loop for place in (rest form) by #'cddr
                         do (note-assignment session place)))
      (set (when (rest form) (note-assignment session (list 'symbol-value (second form))))))))

(defun commit-assignments (evaluation)
  (let ((session (evaluation-session evaluation)))
    (dolist (name (reverse (with-lock () (shiftf (session-assigned session) '()))))
      (when (and (boundp name) (not (gethash (cons :variable name) (session-definitions session))))
        (enter-definition session (cons :variable name))
        (note-loss evaluation (cons :variable name) *assigned-why*)))))

;;; Definitions

(defun foreign-file-p ()
  "True while a file is compiled or loaded that is not the session's own but a system's."
  (and (file-at-work-p)
       (not (and *file-recorder* (own-file-p)))))

(defun note-expansion (form environment)
  "Note FORM, a macro call, as a candidate if it may define something."
  (let ((session *noting*))
    (when (and session (consp form) (symbolp (first form)))
      (when (file-at-work-p) (adopt-file))
      #+sbcl (when *file-recorder* (record-forms *file-recorder*))
      (unless (foreign-file-p)
        (if (eq (first form) 'setf)
            (note-assigned-definitions session form environment)
            (let ((key (ignore-errors (defined-by form))))
              (when (or key (user-macro-p (first form)))
                (let ((toplevel (current-toplevel)))
                  (when toplevel (add-to-trail form toplevel))
                  (when (rest key)
                    (note-candidate session key form toplevel environment))))))))))

(defun current-toplevel ()
  #+sbcl (or (and *file-recorder* (file-at-work-p) (recorded-toplevel *file-recorder*))
             *toplevel*)
  #-sbcl *toplevel*)

(defun note-candidate (session key form toplevel environment &optional why)
  (let ((candidates (session-candidates session)))
    (unless (or (loader-symbol-p (key-symbol key))
                (gethash form candidates)
                (expansion-of-noted-p form toplevel))
      (let ((number (incf *candidate-number*)) (before (definition-identity (car key) (cdr key)))
            (replaced (definition-replaced-by session key toplevel)))
        (when replaced (require-permission key))
        #+sbcl (number-source-locations number)
        (setf (gethash form candidates)
              (make-candidate :key key :form form :toplevel toplevel :number number :why why
                              :trail (trail toplevel)
                              :position (input-position)
                              :names (names-used (lexical-names environment) form)
                              :before before
                              :was (and before (definition-before key))
                              :replaced replaced
                              :builtp (and (not *launched*) (from-built-file-p key))
                              :unboundp (and (eq (car key) :variable)
                                             (not (boundp (cdr key))))))))))

#+sbcl
(defun number-source-locations (number)
  "Have SBCL's source locations carry NUMBER from now on."
  (let ((plist sbcl:*source-plist*))
    (when (eq (first plist) :swank-mcp-number) (setf plist (cddr plist)))
    (when (getf plist :swank-mcp)
      (setf sbcl:*source-plist* (list* :swank-mcp-number number plist)))))

(defun expansion-of-noted-p (form toplevel)
  "True of the DEFMACRO that DEFINE-MODIFY-MACRO expands to."
  (let ((outer (second (trail toplevel))))
    (and (eq (first form) 'defmacro)
         (eq (first outer) 'define-modify-macro)
         (eq (second form) (second outer)))))

(defun loader-package-p (package)
  (and package
       (find-if (lambda (prefix) (eql 0 (search prefix (package-name package))))
                '("ASDF" "QL" "QUICKLISP"))))

(defun loader-symbol-p (symbol)
  "True of SYMBOL if it belongs to ASDF, Quicklisp or a module of the implementation while files
are loaded: then LOAD-SYSTEM or REQUIRE defines it."
  (let ((package (and (symbolp symbol) (file-at-work-p) (symbol-package symbol))))
    (and package
         (or (loader-package-p package) (implementation-package-p package)))))

(defun note-assigned-definitions (session form environment)
  "Note what (SETF (FDEFINITION 'NAME) ...) and the like define, and the variables that
(SETF NAME ...) creates."
  (loop for (place value) on (and (ignore-errors (list-length form)) (rest form)) by #'cddr
        for key = (ignore-errors (assigned-definition place))
        do (note-assignment session place environment)
        when (and key value)            ; (SETF (FIND-CLASS 'NAME) NIL) defines nothing
          do (note-candidate session key `(setf ,place ,value) (current-toplevel) environment
                             (unless (literal-function-p value)
                               "its definition is what the code computed"))))

(defun literal-function-p (form)
  "True if FORM has the same function or class as its value in another image."
  (and (consp form)
       (or (member (first form) '(lambda function))
           (and (member (first form) '(fdefinition symbol-function macro-function find-class))
                (consp (second form))
                (eq (first (second form)) 'quote)))))

;;; A launched image also watches the functions that define.  So it knows of definitions that
;;; were made by calling them directly, though not of their source.

(defun note-direct-definition (key)
  (let ((session *noting*))
    (when (and session (file-at-work-p)) (adopt-file))
    (when (and session (not (foreign-file-p)) (not (loader-symbol-p (key-symbol key))))
      (let ((touched (session-direct-definitions session)))
        (unless (gethash key touched)
          (setf (gethash key touched)
                (list (definition-identity (car key) (cdr key))
                      (and (file-at-work-p) (namestring (file-at-work-p)))
                      (current-toplevel)
                      (incf *candidate-number*))))))))

(defun ordinary-name-p (name)
  "True of a symbol and of (SETF SYMBOL); SBCL has other function names for itself."
  (or (and (symbolp name) name)
      (and (consp name) (eq (first name) 'setf))))

#+sbcl
(defun watch-definers ()
  (flet ((watch (name keys)
           (unless (sbcl:encapsulated-p name 'swank-mcp-definitions)
             (sbcl:encapsulate name 'swank-mcp-definitions
                               (lambda (function &rest arguments)
                                 (when *noting*
                                   (mapc #'note-direct-definition
                                         (ignore-errors (funcall keys arguments))))
                                 (apply function arguments))))))
    (dolist (place '(fdefinition symbol-function))
      (watch `(setf ,place)
             (lambda (arguments)
               (destructuring-bind (function name) arguments
                 (when (ordinary-name-p name)
                   (list (cons (if (typep function 'generic-function) :generic-function :function)
                               name)))))))
    (watch '(setf macro-function)
           (lambda (arguments) (list (cons :macro (second arguments)))))
    (watch '(setf compiler-macro-function)
           (lambda (arguments) (list (cons :compiler-macro (second arguments)))))
    (dolist (name '(add-method remove-method))
      (watch name (lambda (arguments) (list (cons :method (apply #'designator-of arguments))))))))

#+sbcl
(defun designator-of (function method)
  (list (sb-mop:generic-function-name function)
        (method-qualifiers method)
        (mapcar (lambda (specializer)
                  (if (typep specializer 'sb-mop:eql-specializer)
                      (eql-specializer-form (sb-mop:eql-specializer-object specializer))
                      (class-name specializer)))
                (sb-mop:method-specializers method))))
;;;; changes.lisp -- what an evaluation has defined, for the history

(cl:in-package #:swank-mcp)

;;; The history has for each action which definitions it made, and what was there before: the
;;; definition itself, to be put back, and its source text.  That is looked for where the new form
;;; is expanded, and only if there was a definition.

(defparameter *max-changes* 200
  "How many definitions an action keeps.")

(defparameter *max-changed-sources* 50
  "For how many of them it keeps the source text of the definition before.")

(defun definition-before (key)
  "(SAVED SOURCES) of the definition that is there in the namespace of KEY."
  (ignore-errors
   (list (saved-definition key)
         #+sbcl (sources-of-definition key))))

#+sbcl
(defun sources-of-definition (key)
  (destructuring-bind (kind . name) key
    (if (eq kind :method)
        (let ((method (find-defined-method name)))
          (and method (list (sb-introspect:find-definition-source method))))
        (loop for kind in (or (find kind *sibling-kinds* :test #'member) (list kind))
                thereis (definition-sources name kind)))))

(defun text-before (key sources)
  "The source text of the definition of KEY that had SOURCES, or NIL."
  #+sbcl
  (ignore-errors
   (let ((symbol (key-symbol key)))
     (some (lambda (source)
             (let ((text (site-text (source-site source (symbol-name symbol)))))
               (and text (clip text (action-limit :code)))))
           sources)))
  #-sbcl (progn key sources nil))

(defun note-change (evaluation candidate)
  "Note that CANDIDATE has made a definition in EVALUATION."
  (let ((action (evaluation-action evaluation)) (key (candidate-key candidate)))
    (when action
      (let* ((place (namespace-of key))
             (identity (definition-identity (car key) (cdr key)))
             (known (find place (action-changes action)
                          :key (lambda (change) (namespace-of (change-key change))) :test #'equal)))
        (cond (known (setf (change-key known) key (change-identity known) identity))
              ((>= (length (action-changes action)) *max-changes*)
               (incf (action-changes-left-out action)))
              (t (destructuring-bind (&optional saved sources) (candidate-was candidate)
                   (push (make-change :key key :identity identity :saved saved
                                      :newp (null (candidate-was candidate))
                                      :source (and sources
                                                   (< (length (action-changes action)) *max-changed-sources*)
                                                   (text-before key sources)))
                         (action-changes action)))))))))

;;; What the bridge is told, for people who look at its transcript

(defparameter *max-redefined* 50
  "How many definitions an answer names that were replaced.")

(defparameter *max-redefined-text* 20000
  "How many characters of their sources an answer has.")

