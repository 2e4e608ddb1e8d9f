;;;; kept.lisp -- the parts of a top level form that are evaluated again

(cl:in-package #:swank-mcp)

(defparameter *binding-operators*
  '(let let* flet labels macrolet symbol-macrolet locally
    multiple-value-bind destructuring-bind)
  "Operators that give the definitions in them an environment, which must be
there again when they are.")

(defvar *fired* nil
  "A hash table of form in the current top level form to the candidates that it is, or
that came of its expansion; under NIL those that cannot be placed.  NIL for no table.")

(defvar *endedp* nil
  "True if the top level form was evaluated to its end.")

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
  "The part of FORM that each of CANDIDATES comes from, to these; NIL if there is none."
  (when candidates
    (let ((table (make-hash-table :test 'eq)) (conses (conses-in form)))
      (dolist (candidate (reverse candidates) table)
        (let ((place (find-if (lambda (form) (gethash form conses))
                              (cons (candidate-form candidate) (candidate-trail candidate)))))
          (push candidate (gethash place table)))))))

(defun candidate-source (candidate)
  "Its form; of a method the objects stand in place of the forms of EQL specializers."
  (let ((form (candidate-form candidate)))
    (if (eq (car (candidate-key candidate)) :method)
        (with-settled-specializers form (fourth (candidate-key candidate)))
        form)))

(defun with-settled-specializers (form specializers)
  "The DEFMETHOD FORM with SPECIALIZERS; FORM itself if it has no others."
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
  "FORM, unless CANDIDATE cannot be evaluated again where BOUND are the names bound
around it: then NIL, and why is noted."
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

(defun fired-in (form)
  "The candidates in the tree of FORM, in order."
  (when *fired*
    (let ((conses (conses-in form)) (found '()))
      (loop for place being the hash-keys of *fired* using (hash-value candidates)
            when (gethash place conses)
              do (setf found (append candidates found)))
      (sort found #'< :key #'candidate-number))))

(defun kept-part (form bound)
  "A list of the forms that are to be evaluated again of FORM, in which the names BOUND
are bound around it, and the candidates in them."
  (let ((operator (and (consp form) (first form))))
    (cond ((not (and operator (symbolp operator))) (values '() '()))
          ((and (declaring-call-p form) (null bound))
           (values (and *endedp* (list form)) '()))
          ((loading-call-p form) (values '() '())) ; the system is noted by its name
          ((placed-p form) (whole-part form bound))
          ((and (user-macro-p operator) *endedp* (fired-in form))
           (values (list form) (fired-in form)))
          ((member operator *binding-operators*) (kept-binding form bound))
          ((member operator '(progn ignore-errors)) (kept-parts (rest form) bound))
          ((member operator '(eval-when handler-bind)) (kept-parts (rest (rest form)) bound))
          ((and (null bound) (quoted-eval-p form)) ; as a saved session has it
           (kept-part (second (second form)) '()))
          (t (loose-part form bound)))))

(defun quoted-eval-p (form)
  (and (eq (first form) 'eval)
       (consp (rest form))
       (consp (second form))
       (eq (first (second form)) 'quote)
       (consp (rest (second form)))))

(defun placed-p (form)
  (and *fired* (gethash form *fired*)))

(defun whole-part (form bound)
  "FORM as it is, a definition or a macro call that expanded to some.  Of a macro call
that did not come to its end its definitions are kept."
  (let ((own (find form (placed-p form) :key #'candidate-form)))
    (cond (own
           (let ((kept (or-loss own bound (candidate-source own))))
             (values (and kept (list kept)) (and kept (placed-p form)))))
          (*endedp* (values (list form) (fired-in form)))
          (t (loose-part form bound)))))

(defun loose-part (form bound)
  "The definitions in FORM, whose other effects are not to happen again."
  (let ((kept '()) (candidates '()))
    (dolist (candidate (fired-in form))
      (let ((source (or-loss candidate bound (candidate-source candidate))))
        (when source
          (push source kept)
          (push candidate candidates))))
    (values (nreverse kept) (nreverse candidates))))

(defun kept-parts (forms bound)
  (let ((kept '()) (candidates '()))
    (dolist (form forms)
      (multiple-value-bind (parts own) (kept-part form bound)
        (setf kept (append kept parts)
              candidates (append candidates own))))
    (values kept candidates)))

(defun kept-binding (form bound)
  "FORM, of a binding operator, with those of its body forms that are to be kept."
  (multiple-value-bind (head names body) (binding-parts form)
    (let ((declarations (loop while (and (consp (first body))
                                         (eq (first (first body)) 'declare))
                              collect (pop body))))
      (multiple-value-bind (kept candidates) (kept-parts body (append names bound (list nil)))
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
