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

;;; Evaluations of a session run beside each other: its jobs, and one that goes on while others are
;;; suspended.  A definition that is just being made looks like one without source to everybody but
;;; its own evaluation.

(defun own-p (noted-by evaluation)
  "True if EVALUATION commits what was noted by the evaluation NOTED-BY: itself, or one that is over.
NIL, of a thread that the code has started, is over, too."
  (or (null noted-by)
      (eq noted-by evaluation)
      (not (with-lock () (member noted-by *evaluations*)))))

(defun user-macro-p (operator)
  (and (symbolp operator)
       (macro-function operator)
       (not (eq (symbol-package operator) (find-package '#:common-lisp)))))

;;; Candidates

(defstruct (candidate (:copier nil))
  key form toplevel
  (evaluation *evaluation*)             ; that expanded FORM, or NIL; see OWN-P
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
