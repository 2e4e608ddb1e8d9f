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
