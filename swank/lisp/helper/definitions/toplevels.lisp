;;;; toplevels.lisp -- top level forms, and the candidates in them that may define something

(cl:in-package #:swank-mcp)

;;; *MACROEXPAND-HOOK*, bound around each evaluation, sees every defining form that
;;; is expanded for it, also one that a macro of the user's expands to.  Such a form
;;; is a candidate: whether it has defined anything is known only when the
;;; definition that is there is another one than before (see settle.lisp), be it
;;; much later, when the function that contains it is called.

(defstruct (toplevel (:constructor make-toplevel (&key form text package info)) (:copier nil))
  "A top level form that is or was evaluated, or that of a file, which INFO tells."
  form text package info
  (trails '())                          ; see TRAIL
  (started (microseconds))
  (endedp nil)                          ; true once it was evaluated to its end
  (settledp nil))                       ; true once its definitions were looked for

(defun compilation ()
  "What tells this compilation from one that the compiled code starts by EVAL."
  #+sbcl (and (boundp 'sbcl:*source-paths*) sbcl:*source-paths*))

(defun trail (toplevel)
  "The calls of macros that the current compilation has expanded for TOPLEVEL, newest
first: what is expanded next may have come of one of them."
  (and toplevel (cdr (assoc (compilation) (toplevel-trails toplevel)))))

(defun add-to-trail (form toplevel)
  (let ((known (assoc (compilation) (toplevel-trails toplevel))))
    (if known
        (push form (cdr known))
        (push (list (compilation) form) (toplevel-trails toplevel)))))

(defvar *toplevel* nil
  "The TOPLEVEL that the current thread evaluates for a session.")

(defvar *noting* nil
  "The session for which definitions are noted, or NIL.")

(defvar *packages-before* '()
  "The packages there were when the current evaluation began or was resumed.")

(defvar *file-recorder* nil
  "What the files define that the session is loading or compiling.")

(defun file-at-work-p () (or *load-truename* *compile-file-truename*))

(defun user-macro-p (operator)
  (and (symbolp operator)
       (macro-function operator)
       (not (eq (symbol-package operator) (find-package '#:common-lisp)))))

;;; Candidates

(defstruct (candidate (:copier nil))
  key form toplevel
  trail                                 ; when FORM was expanded
  names                                 ; of the variables and functions around FORM
  number                                ; which SBCL's record of its place has
  before                                ; identity of the definition before it
  theirs                                ; what it replaces of somebody else's, see theirs.lisp,
  builtp                                ; and whether that is of a system loaded through us
  unboundp                              ; true if the variable that it defines had no value
  why)                                  ; why FORM cannot be evaluated again, or NIL

(defparameter *max-candidates* 60
  "How many forms are kept that have not defined anything so far.")

(defvar *candidate-number* 0)

;;; What surrounds a form

#+sbcl
(defun names-around (environment)
  "The names that are bound lexically in ENVIRONMENT and that a form in it may use."
  (when (typep environment 'sbcl:lexenv)
    (append (loop for (name . thing) in (sbcl:lexenv-vars environment)
                  unless (typep thing 'sbcl:global-var) collect name)
            (mapcar #'first (sbcl:lexenv-funs environment)))))

#-sbcl
(defun names-around (environment) (declare (ignore environment)) '())

(defun names-used (names form)
  "Those of NAMES that occur in FORM, which may be circular, quoted parts aside."
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
