;;;; commit.lisp -- which candidates have defined something: they enter the session's table

(cl:in-package #:swank-mcp)

;;; This is done after each top level form, and at the end of each evaluation however it ended.
;;; It compares the definition of each candidate's name with the one before the candidate.  If
;;; they differ, the session has defined it: the definition enters the session's table, and its
;;; source goes to the bridge as an entry of the journal.

(defun commit-definitions (evaluation &optional toplevels)
  "Commit what has been defined since the last time, but not what other evaluations are defining, see
OWN-P.  TOPLEVELS have ended, in this order.  One evaluation of a session does this at a time."
  (swank/backend:call-with-lock-held
   (session-commit-lock (evaluation-session evaluation))
   (lambda ()
     (call-recording-trouble evaluation (lambda () (commit-candidates evaluation toplevels))))))

(defun call-recording-trouble (evaluation function)
  "Call FUNCTION, which looks for definitions.  An error in it becomes a loss: it is no error of
the user's code."
  (call-guarded function
                (lambda (trouble)
                  (push (list "(:FORM . \"this evaluation\")"
                              (format nil "~A was signalled in looking for what it has defined"
                                      (plain-type-name trouble)))
                        (evaluation-losses evaluation)))))

(defun commit-candidates (evaluation toplevels)
  (let* ((session (evaluation-session evaluation))
         (confirmed (confirmed-candidates evaluation))
         ;; toplevel to its candidates, newest first
         (own (and confirmed (make-hash-table :test 'eq)))
         (order (session-definition-count session)))
    (dolist (candidate confirmed)
      (setf order
            (enter-definition session (candidate-key candidate) (has-value-p candidate)
                              (and (candidate-toplevel candidate)
                                   (toplevel-text (candidate-toplevel candidate)))))
      (note-replaced evaluation candidate)
      (note-change evaluation candidate)
      (push candidate (gethash (candidate-toplevel candidate) own)))
    (dolist (toplevel (append (remove-duplicates
                               (remove-if (lambda (toplevel) (member toplevel toplevels))
                                          (mapcar #'candidate-toplevel confirmed))
                               :from-end t)
                              toplevels))
      (multiple-value-bind (entries losses)
          (toplevel-entries session toplevel (and own (reverse (gethash toplevel own))))
        (dolist (entry entries) (note-journal-entry evaluation entry order))
        (loop for (candidate . why) in losses
              do (note-loss evaluation (candidate-key candidate) why)))
      (when toplevel (setf (toplevel-committedp toplevel) t)))
    (commit-direct-definitions evaluation confirmed)
    (commit-assignments evaluation)))

;;; Candidates

(defun noted-candidates (session)
  (with-shared-table ((session-candidates session))
    (loop for candidate being the hash-values of (session-candidates session)
          collect candidate)))

(defun confirmed-candidates (evaluation)
  "EVALUATION's own candidates that have made the definitions that are there now, in order.  They will
be compared with these definitions the next time."
  (let ((session (evaluation-session evaluation))
        (by-key (make-hash-table :test 'equal)) (confirmed '()))
    (when (zerop (hash-table-count (session-candidates session)))
      (return-from confirmed-candidates '()))
    (dolist (candidate (noted-candidates session))
      (when (own-p (candidate-evaluation candidate) evaluation)
        ;; one that is over is not kept, with all its output, for a form that defines nothing
        (unless (eq (candidate-evaluation candidate) evaluation)
          (setf (candidate-evaluation candidate) nil))
        (push candidate (gethash (candidate-key candidate) by-key))))
    (loop for key being the hash-keys of by-key using (hash-value candidates)
          do (let* ((now (definition-identity (car key) (cdr key)))
                    (changed (remove-if (lambda (candidate)
                                          (same-identity-p now (candidate-before candidate)))
                                        candidates))
                    (maker (and now changed (defining-candidate key changed))))
               (when maker
                 (resolve-designator maker now)
                 ;; a function that was called may be called again
                 (unless (defines-later-p maker)
                   (remhash (candidate-form maker) (session-candidates session)))
                 (cond ((keeps-value-p maker) (note-kept-value session maker now))
                       ((not (made-unbound-p maker)) (push maker confirmed))))
               (dolist (candidate changed) (setf (candidate-before candidate) now))))
    (forget-old-candidates session)
    (sort confirmed #'< :key #'candidate-number)))

(defun defines-later-p (candidate)
  "True if CANDIDATE defines something after its top level form has been committed."
  (let ((toplevel (candidate-toplevel candidate)))
    (and toplevel (toplevel-committedp toplevel))))

(defun resolve-designator (candidate now)
  "Put the objects of EQL specializers into the key of CANDIDATE if it is a method."
  (destructuring-bind (kind . name) (candidate-key candidate)
    (when (eq kind :method)
      (let ((method (or (first (set-difference now (candidate-before candidate))) (first now))))
        (setf (candidate-key candidate) (cons kind (resolved-designator name method)))))))

(defun keeps-value-p (candidate)
  "True if CANDIDATE is a DEFVAR of a variable that had a value and so has kept it."
  (and (member (first (candidate-form candidate)) *once-operators*)
       (not (candidate-unboundp candidate))))

(defun made-unbound-p (candidate)
  "True if the code gave a variable a value and then made it unbound."
  (destructuring-bind (kind . name) (candidate-key candidate)
    (and (eq kind :variable) (has-value-p candidate) (not (boundp name)))))

(defun has-value-p (candidate)
  (let ((form (candidate-form candidate)))
    (or (not (eq (first form) 'defvar)) (and (rest (rest form)) t))))

(defun note-kept-value (session candidate now)
  "CANDIDATE, a DEFVAR, has only moved the source location of a variable: remember NOW."
  (let ((entry (gethash (candidate-key candidate) (session-definitions session))))
    (when entry (setf (entry-identity entry) now))))

(defun defining-candidate (key candidates)
  "The one of CANDIDATES that has made the definition of KEY, as SBCL's record of it says.  If
that says nothing, it is the newest whose top level form was just evaluated.  An older one
does not count: a file may have defined KEY since."
  (let ((candidates (sort (copy-list candidates) #'> :key #'candidate-number))
        (evidence (definition-evidence (car key) (cdr key))))
    (or (find-if (lambda (candidate) (eq :yes (funcall evidence candidate))) candidates)
        (find-if (lambda (candidate)
                   (and (not (defines-later-p candidate))
                        (eq :unknown (funcall evidence candidate))))
                 candidates))))

#-sbcl
(defun definition-evidence (kind name)
  (declare (ignore kind name))
  (constantly :unknown))

#+sbcl
(defun definition-evidence (kind name)
  "A function of a candidate: whether it has made the definition, :YES, :NO or :UNKNOWN."
  (let ((function (ignore-errors
                   (case kind
                     (:function (fdefinition name))
                     (:macro (macro-function name))
                     (:compiler-macro (compiler-macro-function name))))))
    (if function
        (function-evidence function)
        (let ((location (source-location kind name)))
          (if location (location-evidence location) (constantly :unknown))))))

#+sbcl
(defun location-evidence (location)
  (let* ((plist (sbcl:definition-source-location-plist location))
         (number (getf plist :swank-mcp-number)))
    (lambda (candidate)
      (cond ((eql number (candidate-number candidate)) :yes)
            ;; the file compiler leaves out the plist that EVAL puts in
            ((or (and (null plist) (from-file-p candidate))
                 (eq (first (candidate-form candidate)) 'setf))
             :unknown)
            (t :no)))))

#+sbcl
(defun function-evidence (function)
  (let* ((source (function-source function))
         (form (ignore-errors (compiled-form function source)))
         (conses (and form (conses-in form)))
         (text (and source (getf (sbcl:debug-source-plist source) :swank-mcp-source))))
    (lambda (candidate)
      (let ((own (candidate-form candidate)) (toplevel (candidate-toplevel candidate)))
        (cond ((null form)
               ;; SBCL keeps no forms of files, nor of code with DEBUG 0
               (if (or (from-file-p candidate) (eq (first own) 'setf)
                       (and text toplevel (equal text (toplevel-text toplevel))))
                   :unknown
                   :no))
              ((or (eq form own)
                   (shares-tail-p own conses)
                   (eq form (candidate-place candidate)))
               :yes)
              ;; a macro may leave nothing of its body, and a body may be empty
              ((or (eq (first own) 'setf)
                   (null (rest (rest (rest own))))
                   (not (eq (car (candidate-key candidate)) :function)))
               :unknown)
              (t :no))))))

(defun candidate-place (candidate)
  "The form in the code as written that is the candidate's form, or that expanded to it."
  (let* ((toplevel (candidate-toplevel candidate))
         (conses (conses-in (and toplevel (toplevel-form toplevel)))))
    (find-if (lambda (form) (gethash form conses))
             (cons (candidate-form candidate) (candidate-trail candidate)))))

(defun shares-tail-p (form conses)
  "True if a part of the body of FORM is among CONSES."
  (loop for tail = (rest (rest form)) then (rest tail)
        while (consp tail)
        thereis (or (gethash tail conses)
                    (and (consp (first tail)) (gethash (first tail) conses)))))

(defun from-file-p (candidate)
  (let ((toplevel (candidate-toplevel candidate)))
    (and toplevel (toplevel-info toplevel) t)))

#+sbcl
(defun compiled-form (function source)
  "The form, of the code given to EVAL or COMPILE, that FUNCTION, with the debug-source SOURCE, was
made from."
  (let* ((whole (sbcl:core-debug-source-form source))
         (number (sb-introspect:definition-source-form-number
                  (sb-introspect:find-definition-source function)))
         (path (aref (sbcl:form-number-translations whole 0) number)))
    (loop for n in (butlast (rest (reverse path))) ; which begins with the number
          do (setf whole (nth n whole)))
    whole))

(defun forget-candidates-if (predicate session)
  (let ((candidates (session-candidates session)))
    (dolist (candidate (noted-candidates session))
      (when (funcall predicate candidate)
        (remhash (candidate-form candidate) candidates)))))

(defun forget-old-candidates (session)
  "Keep the newest of the forms that have not defined anything yet."
  (let ((candidates (session-candidates session)))
    (when (> (hash-table-count candidates) *max-candidates*)
      (let* ((numbers (sort (loop for candidate being the hash-values of candidates
                                  collect (candidate-number candidate))
                            #'>))
             (oldest (nth (floor *max-candidates* 2) numbers)))
        (forget-candidates-if (lambda (candidate) (< (candidate-number candidate) oldest))
                              session)))))

(defun drop-candidates (session toplevels)
  "Forget the candidates of TOPLEVELS, the forms of a file that has been loaded."
  (let ((table (make-hash-table :test 'eq)))
    (dolist (toplevel toplevels) (setf (gethash toplevel table) t))
    (forget-candidates-if (lambda (candidate) (gethash (candidate-toplevel candidate) table))
                          session)))

;;; Definitions without source

(defun derivedp (key toplevel confirmed)
  "True if another definition, one of CONFIRMED in TOPLEVEL, has made KEY: an accessor."
  (or (eq (car key) :generic-function)
      (and (eq (car key) :method)
           #+sbcl (typep (find-defined-method (cdr key)) 'sb-mop:standard-accessor-method))
      (find-if (lambda (candidate)
                 (and (eq (candidate-toplevel candidate) toplevel)
                      (member (car (candidate-key candidate)) '(:structure :condition :class))))
               confirmed)))

(defun take-direct-definitions (evaluation)
  "EVALUATION's own direct definitions, in order, each (KEY . REST); they are noted no more."
  (let ((touched (session-direct-definitions (evaluation-session evaluation))))
    (when (plusp (hash-table-count touched))
      (let ((own (remove-if-not
                  (lambda (noted-by) (own-p noted-by evaluation))
                  (with-shared-table (touched)
                    (loop for key being the hash-keys of touched using (hash-value rest)
                          collect (cons key rest)))
                  :key #'sixth)))
        (dolist (direct own) (remhash (first direct) touched))
        (sort own #'< :key #'fifth)))))

(defun commit-direct-definitions (evaluation confirmed)
  "Commit what functions have defined without a defining form: it has no source."
  (let ((session (evaluation-session evaluation)))
    (loop for (key before file toplevel) in (take-direct-definitions evaluation)
          for now = (definition-identity (car key) (cdr key))
          for entry = (gethash key (session-definitions session))
          do (cond ((and (null now) entry)
                    (forget-definition session key entry))
                   ((or (null now)
                        (same-identity-p now before)
                        (derivedp key toplevel confirmed)
                        (and entry (same-identity-p now (entry-identity entry)))))
                   (t (enter-definition session key)
                      (note-loss evaluation key
                                 (if file
                                     (format nil "the compiled file ~A defined it" file)
                                     "a function of Lisp defined it, not a defining form")))))))
