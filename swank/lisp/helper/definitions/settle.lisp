;;;; settle.lisp -- which candidates have defined something, and what they leave

(cl:in-package #:swank-mcp)

;;; After each top level form, and at the end of each evaluation however it ended,
;;; the definitions that candidates are about are compared with those from before
;;; them.  Where there is another one the session has defined it: it enters the
;;; session's table, and its source goes to the bridge as an entry of the journal.

(defun settle (evaluation &optional toplevels)
  "Enter what has been defined since the last time; TOPLEVELS have ended, in order."
  (call-telling-trouble evaluation (lambda () (settle-definitions evaluation toplevels))))

(defun call-telling-trouble (evaluation function)
  "Call FUNCTION, which looks for definitions.  An error in it is no error of the code."
  (call-guarded function
                (lambda (trouble)
                  (push (list "(:FORM . \"this evaluation\")"
                              (format nil "~A was signalled in looking for what it has defined"
                                      (plain-type-name trouble)))
                        (evaluation-losses evaluation)))))

(defun settle-definitions (evaluation toplevels)
  (let* ((session (evaluation-session evaluation))
         (fired (fired-candidates session))
         ;; toplevel to its candidates, newest first
         (own (and fired (make-hash-table :test 'eq))))
    (dolist (candidate fired)
      (enter-definition session (candidate-key candidate) (has-value-p candidate))
      (note-replaced evaluation candidate)
      (push candidate (gethash (candidate-toplevel candidate) own)))
    (dolist (toplevel (append (remove-duplicates
                               (remove-if (lambda (toplevel) (member toplevel toplevels))
                                          (mapcar #'candidate-toplevel fired))
                               :from-end t)
                              toplevels))
      (multiple-value-bind (entries losses)
          (toplevel-entries session toplevel (and own (reverse (gethash toplevel own))))
        (dolist (entry entries) (push entry (evaluation-journal evaluation)))
        (loop for (candidate . why) in losses
              do (note-loss evaluation (candidate-key candidate) why)))
      (when toplevel (setf (toplevel-settledp toplevel) t)))
    (settle-touched evaluation fired)
    (settle-assignments evaluation)))

;;; Candidates

(defun fired-candidates (session)
  "Those that have made the definitions that are there, in order.  All are compared with
what is there now from then on."
  (when (zerop (hash-table-count (session-candidates session)))
    (return-from fired-candidates '()))
  (let ((by-key (make-hash-table :test 'equal)) (fired '()))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            do (push candidate (gethash (candidate-key candidate) by-key))))
    (loop for key being the hash-keys of by-key using (hash-value candidates)
          do (let* ((now (definition-identity (car key) (cdr key)))
                    (changed (remove-if (lambda (candidate)
                                          (same-identity-p now (candidate-before candidate)))
                                        candidates))
                    (maker (and now changed (maker-of key changed))))
               (when maker
                 (settle-designator maker now)
                 ;; a function that was called may be called again
                 (unless (late-p maker)
                   (remhash (candidate-form maker) (session-candidates session)))
                 (cond ((leaves-as-it-is-p maker) (note-left-alone session maker now))
                       ((not (undone-p maker)) (push maker fired))))
               (dolist (candidate changed) (setf (candidate-before candidate) now))))
    (forget-old-candidates session)
    (sort fired #'< :key #'candidate-number)))

(defun late-p (candidate)
  "True of a form that defines something when its top level form has been done with."
  (let ((toplevel (candidate-toplevel candidate)))
    (and toplevel (toplevel-settledp toplevel))))

(defun settle-designator (candidate now)
  "Into the key of CANDIDATE, if it is a method's, the objects of EQL specializers."
  (destructuring-bind (kind . name) (candidate-key candidate)
    (when (eq kind :method)
      (let ((method (or (first (set-difference now (candidate-before candidate))) (first now))))
        (setf (candidate-key candidate) (cons kind (settled-designator name method)))))))

(defun leaves-as-it-is-p (candidate)
  "True of a DEFVAR of a variable that had a value: it has kept that."
  (and (member (first (candidate-form candidate)) *once-operators*)
       (not (candidate-unboundp candidate))))

(defun undone-p (candidate)
  "True if the code itself has made unbound the variable that it gave a value."
  (destructuring-bind (kind . name) (candidate-key candidate)
    (and (eq kind :variable) (has-value-p candidate) (not (boundp name)))))

(defun has-value-p (candidate)
  (let ((form (candidate-form candidate)))
    (or (not (eq (first form) 'defvar)) (and (rest (rest form)) t))))

(defun note-left-alone (session candidate now)
  "A DEFVAR has told the place of a variable that has kept its value."
  (let ((entry (gethash (candidate-key candidate) (session-definitions session))))
    (when entry (setf (entered-identity entry) now))))

(defun maker-of (key candidates)
  "The one of CANDIDATES that has made the definition of KEY.  SBCL's record of the
definition tells; where it does not, it is the newest one of a form that has just been
evaluated, and never one that merely was expanded once: a file may have defined KEY since."
  (let ((candidates (sort (copy-list candidates) #'> :key #'candidate-number))
        (evidence (definition-evidence (car key) (cdr key))))
    (or (find-if (lambda (candidate) (eq :yes (funcall evidence candidate))) candidates)
        (find-if (lambda (candidate)
                   (and (not (late-p candidate))
                        (eq :unknown (funcall evidence candidate))))
                 candidates))))

#-sbcl
(defun definition-evidence (kind name)
  (declare (ignore kind name))
  (constantly :unknown))

#+sbcl
(defun definition-evidence (kind name)
  "A function of a candidate that says whether it has made the definition: :YES, :NO or
:UNKNOWN."
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
            ;; the file compiler leaves out what EVAL puts in
            ((or (and (null plist) (of-file-p candidate))
                 (eq (first (candidate-form candidate)) 'setf))
             :unknown)
            (t :no)))))

#+sbcl
(defun function-evidence (function)
  (let* ((form (ignore-errors (compiled-form function)))
         (conses (and form (conses-in form))))
    (lambda (candidate)
      (let ((own (candidate-form candidate)))
        (cond ((null form)              ; of a file SBCL keeps no forms
               (if (or (of-file-p candidate) (eq (first own) 'setf)) :unknown :no))
              ((or (eq form own)
                   (shares-tail-p own conses)
                   (eq form (candidate-place candidate)))
               :yes)
              ;; of what a macro makes of a body nothing may be left, nor of an empty one
              ((or (eq (first own) 'setf)
                   (null (rest (rest (rest own))))
                   (not (eq (car (candidate-key candidate)) :function)))
               :unknown)
              (t :no))))))

(defun candidate-place (candidate)
  "The form in the code as it was written that is the candidate's, or expanded to it."
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

(defun of-file-p (candidate)
  (let ((toplevel (candidate-toplevel candidate)))
    (and toplevel (toplevel-info toplevel) t)))

#+sbcl
(defun compiled-form (function)
  "The form in the code given to EVAL or COMPILE that FUNCTION was made from."
  (let* ((code (sbcl:fun-code-header (sbcl:%fun-fun function)))
         (source (sbcl:debug-info-source (sbcl:%code-debug-info code)))
         (whole (sbcl:core-debug-source-form source))
         (number (sb-introspect:definition-source-form-number
                  (sb-introspect:find-definition-source function)))
         (path (aref (sbcl:form-number-translations whole 0) number)))
    (loop for n in (butlast (rest (reverse path))) ; which begins with the number
          do (setf whole (nth n whole)))
    whole))

(defun forget-old-candidates (session)
  "Keep the newest of the forms that have not defined anything yet."
  (let ((candidates (session-candidates session)))
    (when (> (hash-table-count candidates) *max-candidates*)
      (let ((numbers (sort (loop for candidate being the hash-values of candidates
                                 collect (candidate-number candidate))
                           #'>)))
        (loop with oldest = (nth (floor *max-candidates* 2) numbers)
              for candidate in (loop for candidate being the hash-values of candidates
                                     collect candidate)
              when (< (candidate-number candidate) oldest)
                do (remhash (candidate-form candidate) candidates))))))

(defun drop-candidates (session toplevels)
  "Forget what TOPLEVELS, of a file that is done with, have not defined."
  (let ((table (make-hash-table :test 'eq)) (candidates (session-candidates session)))
    (dolist (toplevel toplevels) (setf (gethash toplevel table) t))
    (loop for candidate in (loop for candidate being the hash-values of candidates
                                 collect candidate)
          when (gethash (candidate-toplevel candidate) table)
            do (remhash (candidate-form candidate) candidates))))

;;; What has no source

(defun derivedp (key toplevel fired)
  "True of what a definition of another name, one of FIRED in TOPLEVEL, makes: accessors."
  (or (eq (car key) :generic-function)
      (and (eq (car key) :method)
           #+sbcl (typep (find-defined-method (cdr key)) 'sb-mop:standard-accessor-method))
      (find-if (lambda (candidate)
                 (and (eq (candidate-toplevel candidate) toplevel)
                      (member (car (candidate-key candidate)) '(:structure :condition :class))))
               fired)))

(defun take-touched (session)
  (let ((touched (session-touched session)))
    (when (plusp (hash-table-count touched))
      (with-shared-table (touched)
        (prog1 (sort (loop for key being the hash-keys of touched using (hash-value rest)
                           collect (cons key rest))
                     #'< :key #'fifth)
          (clrhash touched))))))

(defun settle-touched (evaluation fired)
  "What was defined without a form that defines it is the session's, and has no source."
  (let ((session (evaluation-session evaluation)))
    (loop for (key before file toplevel) in (take-touched session)
          for now = (definition-identity (car key) (cdr key))
          for entry = (gethash key (session-definitions session))
          do (cond ((and (null now) entry)
                    (forget-definition session key entry))
                   ((or (null now)
                        (same-identity-p now before)
                        (derivedp key toplevel fired)
                        (and entry (same-identity-p now (entered-identity entry)))))
                   (t (enter-definition session key)
                      (note-loss evaluation key
                                 (if file
                                     (format nil "the compiled file ~A defined it" file)
                                     "a function of Lisp defined it, not a defining form")))))))
