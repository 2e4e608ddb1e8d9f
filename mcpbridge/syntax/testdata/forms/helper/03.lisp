
(defun still-made-p (key entry)
  (handler-case
      (and (interned-p key)
           (let ((now (definition-identity (car key) (cdr key))))
             (and now
                  #+sbcl (or (same-identity-p now (entry-identity entry))
                             ;; a DEFVAR in a file has not changed its value
                             (and *launched* (entry-boundp entry)
                                  (boundp (cdr key))
                                  (eql (symbol-value (cdr key)) (entry-value entry))))
                  (or (not (entry-boundp entry)) (boundp (cdr key))))))
    (error () nil)))

(defun forget-definition (session key entry)
  "Forget KEY, which is not there any more, unless it has been defined again since ENTRY."
  (let ((table (session-definitions session)) (text (entry-text entry)))
    (when (with-shared-table (table)
            (and (eq entry (gethash key table))
                 (remhash key table)))
      (when text
        (with-lock () (push text (session-gone session)))))))

(defun all-entries (session)
  "((KEY . ENTRY) ...), copied: checking an entry may call code of the user's."
  (let ((table (session-definitions session)))
    (with-shared-table (table)
      (loop for key being the hash-keys of table using (hash-value entry)
            collect (cons key entry)))))

(defun own-entries (session)
  "((KEY . ENTRY) ...) in the order of definition.  Entries no longer true are forgotten."
  (let ((busy (defining-elsewhere-p session)) (found '()))
    (loop for (key . entry) in (all-entries session)
          do (cond ((still-made-p key entry) (push (cons key entry) found))
                   ((not busy) (forget-definition session key entry))))
    (sort found #'< :key (lambda (pair) (entry-order (cdr pair))))))

(defun own-definitions (session)
  "((KIND . NAME) ...) in the order of definition, without variables that have no value."
  (loop for (key) in (own-entries session)
        when (definedp (car key) (cdr key)) collect key))

(defun lost-definitions (session)
  "((KEY-TEXT WHY) ...) of the definitions that a new image will not have."
  (append (loop for (key . entry) in (own-entries session)
                when (entry-why entry)
                  collect (list (key-text session key) (entry-why entry)))
          (and (session-readtable-why session)
               (list (list (readtable-key) (session-readtable-why session))))))

(defun why-lost (session key)
  "Why KEY has no source, in words; NIL if it has one or is not the session's."
  (let ((entry (gethash key (session-definitions session))))
    (and entry (entry-why entry))))

;;; SBCL puts SB-C::*SOURCE-PLIST* into the source location of what it defines.  We put the
;;; source text there, where look-ups find it.

(defparameter *max-source-text* 200000
  "The text of a form with more characters is not kept with what it defines.")

(defun call-with-source-text (text function)
  "Call FUNCTION; what it defines remembers TEXT, the source of a top level form, and in which
package it was read."
  #+sbcl
  (let ((sbcl:*source-plist*
          (if (<= (length text) *max-source-text*)
              (list* :swank-mcp-source text :swank-mcp-package (package-name *package*)
                     sbcl:*source-plist*)
              sbcl:*source-plist*)))
    (funcall function))
  #-sbcl (progn text (funcall function)))

;;; The table

(defparameter *sibling-kinds*
  '((:function :macro :generic-function) (:class :structure :condition :type)
    (:variable :constant :symbol-macro))
  "Kinds that exclude each other for one name.")

(defun enter-definition (session key &optional (valuep t) source)
  "Enter KEY, which has been defined, and return its order.  VALUEP is false if a variable got no
value; SOURCE is the text of the top level form, or NIL."
  (let* ((table (session-definitions session)) (old (gethash key table))
         (order (with-lock () (incf (session-definition-count session)))))
    (when old (forget-old-name session key old))
    (setf (gethash key table)
          (make-entry :order order
                           :identity (definition-identity (car key) (cdr key))
                           :boundp (and valuep (eq (car key) :variable) (boundp (cdr key)))
                           :value (and valuep (eq (car key) :variable) (boundp (cdr key))
                                       (symbol-value (cdr key)))
                           :source (and (eq (car key) :variable) source)))
    (dolist (kind (find (car key) *sibling-kinds* :test #'member))
      (let* ((sibling (cons kind (cdr key))) (entry (gethash sibling table)))
        (when (and entry (not (eq kind (car key))) (not (definedp kind (cdr key))))
          (forget-definition session sibling entry))))
    order))

(defun forget-old-name (session key old)
  "Tell the bridge to forget the old text of KEY if its package was renamed since OLD."
  (let ((text (entry-text old)))
    (when (and text (string/= text (key-text session key)))
      (with-lock () (push text (session-gone session))))))

;;; Definitions without source

(defun note-loss (evaluation key why)
  (let ((entry (gethash key (session-definitions (evaluation-session evaluation)))))
    (when entry (setf (entry-why entry) why))
    (push (list (key-text (evaluation-session evaluation) key) why key entry)
          (evaluation-losses evaluation))))

(defun losses-for-wire (evaluation)
  "((KEY-TEXT WHY) ...), without those of definitions that the session has replaced since."
  (let ((table (session-definitions (evaluation-session evaluation))))
    (loop for (text why key entry) in (reverse (shiftf (evaluation-losses evaluation) '()))
          unless (and key (not (eq entry (gethash key table))))
            collect (list text why))))

;;; What an evaluation tells of the journal: see journal.lisp

(defun note-journal-entry (evaluation entry order)
  "Add ENTRY, see JOURNAL-ENTRY, to the journal of EVALUATION, as the session's definition number
ORDER."
  (let ((entry (append entry (list order))))
    (with-lock () (push entry (evaluation-journal evaluation)))))

(defun journal-for-wire (evaluation)
  "The entries that EVALUATION has made; unless it is a job, also those that the session's running
jobs have made so far, so that they are not lost with the image."
  (let ((session (evaluation-session evaluation)))
    (with-lock ()
      (append
       (reverse (shiftf (session-journal session) '()))
       (loop for other in (adjoin evaluation
                                  (unless (evaluation-job evaluation)
                                    (remove-if-not (lambda (other)
                                                     (and (evaluation-job other)
                                                          (eq session (evaluation-session other))))
                                                   *evaluations*)))
             append (reverse (shiftf (evaluation-journal other) '())))))))

;;; Names by which the bridge knows definitions

(defun key-text (session key)
  "KEY, (KIND . NAME), as text by which the bridge compares it.  The entry remembers it, in case
the name loses its package."
  (let ((text (call-with-listing-syntax
               (lambda ()
                 (let ((*print-length* nil) (*print-level* nil)) ; all that tells two apart
                   (safely (prin1-to-string key))))))
        (entry (gethash key (session-definitions session))))
    (when entry (setf (entry-text entry) text))
    text))

(defun readtable-key () (with-standard-io-syntax (prin1-to-string '(:readtable . *readtable*))))
;;;; journal.lisp -- the source of what a session has defined, for another image

(cl:in-package #:swank-mcp)

;;; The bridge keeps the source of each definition, to restore the session when its image has
;;; died.  That source must be safe to evaluate again.  So of a top level form the journal has
;;; only the parts that have defined something, changed packages or declared, inside the
;;; bindings and local macros that surround them.

(defun standard-syntax-p (session text)
  "False if another image may read TEXT, which this session has read, as something else."
  (and (not (search "#." text))
       (or (equal *features* (session-first-features session))
           (not (or (search "#+" text) (search "#-" text))))
       (eql *read-base* 10)
       (eq *read-default-float-format* 'single-float)
       (eq *readtable* (session-readtable session))
       (not (readtable-changed-p session))))

(defun declaration-key-text (form text)
  "The key of FORM, which declares something and has the source TEXT."
  (if (eq (first form) 'defpackage)
      (package-key (string (second form)))
      (with-standard-io-syntax (prin1-to-string (cons :form text)))))

(defun journal-entry (session keys form text toplevel runsp)
  "(KEYS TEXT PACKAGE-NAME MILLISECONDS RUNSP BRIDGEP).  MILLISECONDS is how long TOPLEVEL took.
RUNSP is true if evaluating TEXT runs more of the user's code than the definitions; BRIDGEP, if
it changes what the bridge needs."
  (list (if keys
            (remove-duplicates (mapcar (lambda (key) (key-text session key)) keys) :test #'string=)
            (list (declaration-key-text form text)))
        text
        (or (and (not (member (first form) *package-makers*))
                 (package-name (toplevel-home toplevel)))
            "COMMON-LISP-USER")
        (if toplevel (floor (- (microseconds) (toplevel-started toplevel)) 1000) 0)
        (and runsp t)
        (and (some #'bridge-key-p keys) t)))

(defun toplevel-home (toplevel)
  (or (and toplevel (toplevel-package toplevel)) *package*))

(defvar *journaled* '()
  "The candidates that have an entry already.")

(defun toplevel-entries (session toplevel confirmed)
  "The journal entries of TOPLEVEL, whose CONFIRMED candidates have made definitions, and
((CANDIDATE . WHY) ...) of those that have no source."
  (let ((*losses* '()) (*journaled* '()) (entries '()))
    (when (and toplevel (toplevel-form toplevel) (not (toplevel-committedp toplevel)))
      (let ((*confirmed* (place-candidates (toplevel-form toplevel) confirmed))
            (*endedp* (toplevel-endedp toplevel)))
        (setf entries (form-entries session toplevel (toplevel-form toplevel) t))))
    ;; these were defined by a function that the form calls, or later
    (dolist (candidate confirmed)
      (unless (or (member candidate *journaled*) (assoc candidate *losses*))
        (setf entries (append entries (single-entry session candidate)))))
    (values entries *losses*)))

(defun toplevel-source (session toplevel)
  "The source of TOPLEVEL as written, unless another image may read it as something else."
  (let ((text (toplevel-text toplevel)))
    (and text (standard-syntax-p session text) text)))

(defun single-entry (session candidate)
  "The entry of CANDIDATE alone, without what surrounds it."
  (let ((form (or-loss candidate '() (candidate-source candidate))))
    (and form (printed-entry session (list candidate) form (candidate-toplevel candidate)))))

(defun input-read (candidates toplevel)
  "What TOPLEVEL has read of its input since the expansion of CANDIDATES, of which a variable may
be made; NIL if that is nothing."
  (let ((start (and toplevel
                    (find-if (lambda (candidate)
                               (member (car (candidate-key candidate)) '(:variable :constant)))
                             candidates)
                    (loop for candidate in candidates
                          minimize (or (candidate-position candidate)
                                       (toplevel-position toplevel)
                                       0))))
        (end (and toplevel (input-position (toplevel-input toplevel)))))
    (when (and start end (< start end) (not (toplevel-committedp toplevel)))
      (let ((text (make-string (- end start))))
        (file-position (toplevel-input toplevel) start)
        (read-sequence text (toplevel-input toplevel))
        text))))

(defun with-input-source (input text)
  "The source of the form TEXT with INPUT to read."
  (format nil "(cl:let* ((cl:*standard-input* (cl:make-string-input-stream ~A))~%~
               ~7T(cl:*query-io* (cl:make-two-way-stream cl:*standard-input* cl:*standard-output*))~%~
               ~7T(cl:*terminal-io* cl:*query-io*))~%  ~A)"
          (with-standard-io-syntax (prin1-to-string input)) text))

(defun entry-of (session candidates form text toplevel)
  (setf *journaled* (append candidates *journaled*))
  (let ((input (input-read candidates toplevel)))
    (journal-entry session (mapcar #'candidate-key candidates) form
                   (if input (with-input-source input text) text)
                   toplevel
                   (or input
                       (user-macro-p (first form))
                       (member (first form) *binding-operators*)))))

(defun printed-entry (session candidates form toplevel)
  (let ((source (form-source form (if (member (first form) *package-makers*)
                                      (user-package)
                                      (toplevel-home toplevel)))))
    (cond (source
           (list (entry-of session candidates form source toplevel)))
          (t (dolist (candidate candidates '())
               (push (cons candidate "its source has objects in it that cannot be printed readably")
                     *losses*))))))

(defun form-entries (session toplevel form wholep)
  "The entries of FORM, at top level in TOPLEVEL, which is all of it if WHOLEP."
  (when (and (consp form) (symbolp (first form)))
    (if (member (first form) '(progn eval-when))
        (loop for part in (if (eq (first form) 'progn) (rest form) (rest (rest form)))
              append (form-entries session toplevel part nil))
        (multiple-value-bind (kept candidates) (replayed-part form '())
          (let ((text (and wholep
                           (equal kept (list form))
                           (or (not (member (first form) *package-makers*))
                               (eq (toplevel-home toplevel) (user-package)))
                           (toplevel-source session toplevel))))
            (if text
                (list (entry-of session candidates form text toplevel))
                (loop for part in kept
                         append (let ((own (candidates-in part candidates)))
                                  (printed-entry session own part toplevel)))))))))

(defun candidates-in (part candidates)
  (if (rest candidates)
      (let ((conses (conses-in part)))
        (or (remove-if-not (lambda (candidate)
                             (some (lambda (form) (gethash form conses))
                                   (cons (candidate-form candidate) (candidate-trail candidate))))
                           candidates)
            candidates))
      candidates))
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

