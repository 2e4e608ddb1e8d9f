
(defun note-replaced (evaluation candidate)
  "Note what CANDIDATE, which has defined something, has replaced."
  (let ((replaced (candidate-replaced candidate)) (key (candidate-key candidate)))
    (when replaced
      (setf (gethash (namespace-of key) (session-replaced (evaluation-session evaluation)))
            replaced)
      ;; a system that was loaded through us is the session's own
      (unless (candidate-builtp candidate)
        (pushnew (cons key (eq :left (first replaced))) (evaluation-replaced evaluation)
                 :test #'equal)))))

(defun key-label (key)
  (destructuring-bind (kind . name) key
    (format nil "~(~A~) ~:[~A~;~{~A~{ ~A~} ~A~}~]" (substitute #\space #\- (symbol-name kind))
            (eq kind :method)
            (if (eq kind :method)
                (destructuring-bind (function qualifiers specializers) name
                  (list (name-text function) qualifiers (name-text specializers)))
                (name-text name)))))

(defun replaced-notes (evaluation)
  "What a reply says of definitions of somebody else's that were replaced."
  (loop with replaced = (reverse (shiftf (evaluation-replaced evaluation) '()))
        for (leftp . text) in '((nil . "reset-session puts back what was there.")
                                (t . "What was there is gone: reset-session leaves the new one, and load-system or the file brings the old one."))
        for labels = (loop for (key . left) in replaced when (eq left leftp) collect (key-label key))
        when labels
          collect (format nil "Redefined, though this session had not defined ~:[it~;them~]: ~{~A~^, ~}~@[ and ~D more~]. ~A"
                          (rest labels) (first-few labels 20) (count-beyond labels 20) text)))

;;; Restoring

(defun restore-definition (place kept)
  "Make KEPT, of SAVED-DEFINITION, the definition in the namespace PLACE again."
  (let ((name (cdr place)))
    (ecase (first kept)
      (:macro (fmakunbound name) (setf (macro-function name) (second kept)))
      (:function (fmakunbound name) (setf (fdefinition name) (second kept)))
      (:compiler-macro (setf (compiler-macro-function name) (second kept)))
      #+sbcl (:method (add-method (second kept) (third kept)))
      #+sbcl
      (:variable
       (destructuring-bind (location documentation &optional (value nil boundp)) (rest kept)
         (if boundp
             (setf (sb-ext:symbol-global-value name) value)
             (makunbound name))
         (setf (documentation name 'variable) documentation
               (sbcl:info :source-location :variable name) location))))))

(defun restore-replaced (session attempt)
  "Restore the definitions that SESSION has replaced.  (VALUES PLACES LEFT-KEYS): the namespaces
restored, and the keys that cannot be."
  (let ((done '()) (left '()) (replaced (session-replaced session)))
    (dolist (key (own-definitions session))
      (when (eq :left (first (gethash (namespace-of key) replaced)))
        (push key left)))
    (let ((own (mapcar #'namespace-of (own-definitions session))))
      (loop for place being the hash-keys of replaced using (hash-value kept)
            do (when (member place own :test #'equal) (push place done))
               (when (and (not (eq :left (first kept)))
                          (or (member place own :test #'equal)
                              (not (definedp (car place) (cdr place)))))
                 (let ((place place) (kept kept))
                   (funcall attempt (key-label place)
                            (lambda () (restore-definition place kept)))))))
    (values done left)))
;;;; replay.lisp -- the parts of a top level form that a restore evaluates again

(cl:in-package #:swank-mcp)

;;; Calls at top level that a restore repeats though they define nothing

(defparameter *declaring-operators* '(declaim proclaim require))

(defun loading-call-p (form)
  "True of (ASDF:LOAD-SYSTEM ...) and (QL:QUICKLOAD ...)."
  (and (symbolp (first form))
       (first form)
       (member (symbol-name (first form)) '("LOAD-SYSTEM" "QUICKLOAD") :test #'string=)
       (loader-package-p (symbol-package (first form)))))

(defun defining-call-p (form)
  "True of a form that only defines: of a defining operator, or of a macro of the user's that
expanded to definitions."
  (or (assoc (first form) *defining-operators*)
      (user-macro-p (first form))))

(defun users-package-p (designator)
  "True if DESIGNATOR, a form, names a package that an image can do without."
  (let ((name (unquoted designator)))
    (and name
         (typep name '(or symbol string))
         (notany (lambda (prefix) (eql 0 (search prefix (string name))))
                 '("SWANK" "SB-" "COMMON-LISP" "CL" "KEYWORD" "ASDF" "UIOP")))))

(defun declaring-call-p (form)
  "True of a form that changes packages or declares, and so belongs in the journal.  A
DELETE-PACKAGE of a package of the session's does not: its absence is noticed anyway."
  (let ((operator (first form)))
    (cond ((eq operator 'delete-package)
           (and (users-package-p (second form))
                (not (and *noting* (own-package-name-p *noting* (second form))))))
          ((eq operator 'rename-package) (users-package-p (second form)))
          (t (or (member operator *package-operators*)
                 (member operator *declaring-operators*))))))

;;; The parts of a form

(defparameter *binding-operators*
  '(let let* flet labels macrolet symbol-macrolet locally
    multiple-value-bind destructuring-bind)
  "Operators that surround definitions with an environment.  A restore needs both.")

(defvar *confirmed* nil
  "A hash table from a form in the current top level form to the confirmed candidates that it is
or that its expansion had; under NIL, those that belong to no form.  NIL for no table.")

(defvar *endedp* nil
  "True if the current top level form was evaluated to its end.")

(defvar *losses* '()
  "((CANDIDATE . WHY) ...) of definitions whose source cannot be evaluated again.")

(defun conses-in (form)
  "An EQ hash table of the conses in FORM, which may be circular."
  (let ((seen (make-hash-table :test 'eq)))
    (labels ((walk (form)
               (loop for rest = form then (cdr rest)
                     while (and (consp rest) (not (gethash rest seen)))
                     do (setf (gethash rest seen) t)
                        (walk (car rest)))))
      (walk form))
    seen))

(defun place-candidates (form candidates)
  "A hash table from the parts of FORM to those of CANDIDATES that came from them, or NIL."
  (when candidates
    (let ((table (make-hash-table :test 'eq)) (conses (conses-in form)))
      (dolist (candidate (reverse candidates) table)
        (let ((place (find-if (lambda (form) (gethash form conses))
                              (cons (candidate-form candidate) (candidate-trail candidate)))))
          (push candidate (gethash place table)))))))

(defun candidate-source (candidate)
  "The form of CANDIDATE.  In a method objects replace the forms of EQL specializers."
  (let ((form (candidate-form candidate)))
    (if (eq (car (candidate-key candidate)) :method)
        (with-resolved-specializers form (fourth (candidate-key candidate)))
        form)))

(defun with-resolved-specializers (form specializers)
  "The DEFMETHOD FORM with SPECIALIZERS; FORM itself if it has these."
  (let* ((rest (member-if #'listp (rest (rest form))))
         (position (position (first rest) form :test #'eq))
         (changed nil)
         (parameters (loop for parameter in (first rest)
                           for specializer = (and specializers (pop specializers))
                           collect (cond ((or (not (consp specializer))
                                              (plain-constant-p (second (second parameter))))
                                          parameter)
                                         (t (setf changed t)
                                            (list (first parameter) specializer))))))
    (if changed
        (append (subseq form 0 position) (list parameters) (nthcdr (1+ position) form))
        form)))

(defun or-loss (candidate bound form)
  "FORM; or NIL, with the reason noted, if CANDIDATE cannot be evaluated again where only the
names BOUND are bound around it."
  (let ((missing (remove-if (lambda (name) (member name bound :test #'equal))
                            (candidate-names candidate))))
    (flet ((lost (why) (push (cons candidate why) *losses*) nil))
      (cond ((candidate-why candidate) (lost (candidate-why candidate)))
            (missing
             (lost (format nil "it uses ~{~A~^, ~}, bound by code that is not run again"
                           (mapcar #'name-text missing))))
            ((unreadable-specializer-p candidate)
             (lost "a specializer of it is an object that cannot be printed readably"))
            (t form)))))

(defun unreadable-specializer-p (candidate)
  (and (eq (car (candidate-key candidate)) :method)
       (some (lambda (specializer)
               (and (consp specializer) (consp (second specializer))
                    (let ((object (second (second specializer))))
                      (not (typep object '(or symbol number character string))))))
             (fourth (candidate-key candidate)))))

(defun confirmed-in (form)
  "The candidates in the tree of FORM, in order."
  (when *confirmed*
    (let ((conses (conses-in form)) (found '()))
      (loop for place being the hash-keys of *confirmed* using (hash-value candidates)
            when (gethash place conses)
              do (setf found (append candidates found)))
      (sort found #'< :key #'candidate-number))))

(defun replayed-part (form bound)
  "The parts of FORM to evaluate again, and the candidates in them.  The names BOUND are bound
around FORM."
  (let ((operator (and (consp form) (first form))))
    (cond ((not (and operator (symbolp operator))) (values '() '()))
          ((and (declaring-call-p form) (null bound))
           (values (and *endedp* (list form)) '()))
          ((loading-call-p form) (values '() '())) ; the journal has the system's name
          ((placed-p form) (whole-part form bound))
          ((and (user-macro-p operator) *endedp* (confirmed-in form))
           (values (list form) (confirmed-in form)))
          ((member operator *binding-operators*) (replayed-binding form bound))
          ((member operator '(progn ignore-errors)) (replayed-parts (rest form) bound))
          ((member operator '(eval-when handler-bind)) (replayed-parts (rest (rest form)) bound))
          ((and (null bound) (quoted-eval-p form)) ; a saved session has these
           (replayed-part (second (second form)) '()))
          (t (definitions-alone form bound)))))

(defun quoted-eval-p (form)
  (and (eq (first form) 'eval)
       (consp (rest form))
       (consp (second form))
       (eq (first (second form)) 'quote)
       (consp (rest (second form)))))

(defun placed-p (form)
  (and *confirmed* (gethash form *confirmed*)))

(defun whole-part (form bound)
  "All of FORM, a definition or a macro call that expanded to some.  Of a macro call that did
not come to its end: its definitions."
  (let ((own (find form (placed-p form) :key #'candidate-form)))
    (cond (own
           (let ((kept (or-loss own bound (candidate-source own))))
             (values (and kept (list kept)) (and kept (placed-p form)))))
          (*endedp* (values (list form) (confirmed-in form)))
          (t (definitions-alone form bound)))))

(defun definitions-alone (form bound)
  "The definitions in FORM, without its other effects."
  (let ((kept '()) (candidates '()))
    (dolist (candidate (confirmed-in form))
      (let ((source (or-loss candidate bound (candidate-source candidate))))
        (when source
          (push source kept)
          (push candidate candidates))))
    (values (nreverse kept) (nreverse candidates))))

(defun replayed-parts (forms bound)
  (let ((kept '()) (candidates '()))
    (dolist (form forms)
      (multiple-value-bind (parts own) (replayed-part form bound)
        (setf kept (append kept parts)
              candidates (append candidates own))))
    (values kept candidates)))

(defun replayed-binding (form bound)
  "FORM, of a binding operator, with only those body forms that are to be evaluated again."
  (multiple-value-bind (head names body) (binding-parts form)
    (let ((declarations (loop while (and (consp (first body))
                                         (eq (first (first body)) 'declare))
                              collect (pop body))))
      (multiple-value-bind (kept candidates) (replayed-parts body (append names bound (list nil)))
        (cond ((null kept) (values '() '()))
              ((and (= (length kept) (length body)) (every #'eq kept body))
               (values (list form) candidates))
              (t (values (list (append head declarations kept)) candidates)))))))

(defun binding-parts (form)
  "The part of FORM before its body, the names that it binds, and the body."
  (flet ((names (bindings)
           (mapcar (lambda (binding) (if (consp binding) (first binding) binding)) bindings)))
    (ecase (first form)
      (locally (values (list 'locally) '() (rest form)))
      ((let let* flet labels macrolet symbol-macrolet)
       (values (list (first form) (second form)) (names (second form)) (rest (rest form))))
      ((multiple-value-bind destructuring-bind)
       (values (list (first form) (second form) (third form))
               (flat-names (second form))
               (rest (rest (rest form))))))))

(defun flat-names (tree)
  (cond ((null tree) '())
        ((consp tree) (append (flat-names (car tree)) (flat-names (cdr tree))))
        ((member tree lambda-list-keywords) '())
        ((symbolp tree) (list tree))))
;;;; toplevels.lisp -- top level forms, and the candidates in them that may define something

(cl:in-package #:swank-mcp)

;;; *MACROEXPAND-HOOK*, bound around each evaluation, sees every defining form that is expanded,
;;; also in the expansion of a macro of the user's.  Such a form is a candidate.  It is confirmed
;;; when the definition of its name is no longer the one from before (see commit.lisp).  That may
;;; be much later, when the function that contains it is called.

(defstruct (toplevel (:constructor make-toplevel (&key form text package info)) (:copier nil))
  "A top level form of evaluated code, or of a file, whose SOURCE-INFO is INFO."
  form text package info
  (input *input*) (position (input-position)) ; where it begins to read
  (trails '())                          ; see TRAIL
  (started (microseconds))
  (endedp nil)                          ; true once it was evaluated to its end
  (committedp nil))                     ; true once its definitions were committed

(defun compilation ()
  "An object that identifies the current compilation: EVAL in compiled code starts another."
  #+sbcl (and (boundp 'sbcl:*source-paths*) sbcl:*source-paths*))

(defun trail (toplevel)
  "The macro calls that the current compilation has expanded for TOPLEVEL, newest first.  The
next form to be expanded may be part of their expansions."
  (and toplevel (cdr (assoc (compilation) (toplevel-trails toplevel)))))

(defun add-to-trail (form toplevel)
  (let ((known (assoc (compilation) (toplevel-trails toplevel))))
    (if known
        (push form (cdr known))
        (push (list (compilation) form) (toplevel-trails toplevel)))))

(defvar *toplevel* nil
  "The TOPLEVEL that the current thread is evaluating for a session.")

(defvar *noting* nil
  "The session for which definitions are noted; NIL while none are.")

(defvar *packages-before* '()
  "All packages at the time when the current evaluation began or was resumed.")

(defvar *file-recorder* nil
  "The FILE-RECORDER of the files that the session is loading or compiling, or NIL.")

(defun file-at-work-p () (or *load-truename* *compile-file-truename*))

(defun user-macro-p (operator)
  (and (symbolp operator)
       (macro-function operator)
       (not (eq (symbol-package operator) (find-package '#:common-lisp)))))

;;; Candidates

(defstruct (candidate (:copier nil))
  key form toplevel
  position                              ; in the input when FORM was expanded, or NIL
  trail                                 ; when FORM was expanded
  names                                 ; of the variables and functions around FORM
  number                                ; in SBCL's source location of what it defines
  before                                ; identity of the definition before it,
  was                                   ; and that itself, see DEFINITION-BEFORE
  replaced                              ; what it replaces of somebody else's, see replaced.lisp,
  builtp                                ; and whether that is of a system loaded through us
  unboundp                              ; true if the variable that it defines had no value
  why)                                  ; why FORM cannot be evaluated again, or NIL

(defparameter *max-candidates* 60
  "How many candidates are kept that have defined nothing so far.")

(defvar *candidate-number* 0)

;;; The lexical environment of a form

#+sbcl
(defun lexical-names (environment)
  "The names bound lexically in ENVIRONMENT."
  (when (typep environment 'sbcl:lexenv)
    (append (loop for (name . thing) in (sbcl:lexenv-vars environment)
                  unless (typep thing 'sbcl:global-var) collect name)
            (mapcar #'first (sbcl:lexenv-funs environment)))))

#-sbcl
(defun lexical-names (environment) (declare (ignore environment)) '())

(defun names-used (names form)
  "Those of NAMES that occur outside of quoted parts of FORM, which may be circular."
  (let ((found '()) (seen (make-hash-table :test 'eq)))
    (labels ((walk (form)
               (cond ((consp form)
                      (unless (or (gethash form seen)
                                  (and (eq (first form) 'quote) (consp (rest form))))
                        (loop for rest = form then (cdr rest)
                              while (and (consp rest) (not (gethash rest seen)))
                              do (setf (gethash rest seen) t)
                                 (walk (car rest))
                              finally (when (atom rest) (walk rest)))))
                     ((and form (symbolp form) (member form names))
                      (pushnew form found)))))
      (when names (walk form)))
    (append (remove-if-not #'consp names) found))) ; (SETF F) is not looked for
;;;; undefining.lisp -- definitions that the session's code has undefined

(cl:in-package #:swank-mcp)

;;; A restore must not bring back what the session has undefined.  To check all definitions after
;;; each evaluation would cost too much.  A launched image watches the functions that undefine.
;;; A person's image is not watched: there the bridge asks before it saves a session.

(defparameter *undefining-functions*
  '(fmakunbound makunbound unintern delete-package (setf find-class)
    load)                               ; what a file defines again is the file's
  "Functions after whose calls the session's definitions are checked.")

