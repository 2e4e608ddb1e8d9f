
(defun redefined-for-wire (evaluation)
  "(NUMBER TOKEN (LABEL BEFORE AFTER) ...) of the definitions that EVALUATION has replaced: of its
action, and for each the source before and now, empty where it is not known or too long.  NIL if it
has replaced none."
  (let* ((action (evaluation-action evaluation)) (room *max-redefined-text*)
         (changes (and action (remove-if #'change-newp (reverse (action-changes action))))))
    (flet ((texts (change)
             (let* ((before (change-source change))
                    (after (and before (text-now (change-key change))))
                    (size (+ (length before) (length after))))
               (cond ((not (and before after)) (list "" ""))
                     ((or (> (length before) (action-limit :code)) ; then it was clipped
                          (> (length after) (action-limit :code))
                          (> size room))
                      (list "" ""))
                     (t (decf room size)
                        (list before after))))))
      (when changes
        (list* (action-number action) (action-token action)
               (loop for change in (first-few changes *max-redefined*)
                     collect (cons (key-label (change-key change)) (texts change))))))))

(defun text-now (key)
  #+sbcl (text-before key (ignore-errors (sources-of-definition key)))
  #-sbcl (progn key nil))
;;;; collect.lisp -- what surrounds an evaluation or a file, to find what it defines

(cl:in-package #:swank-mcp)

(defun call-noting-definitions (evaluation function)
  (let* ((session (evaluation-session evaluation))
         (*packages-before* (if *launched* (session-known-packages session) (all-packages)))
         (*load-truename* nil) (*load-pathname* nil)
         (*noting* session) (*toplevel* nil) (*file-recorder* nil)
         (expand *macroexpand-hook*)
         (*macroexpand-hook* (lambda (expander form environment)
                               (note-expansion form environment)
                               (funcall expand expander form environment)))
         #+sbcl (sbcl:*source-plist*
                  (list* :swank-mcp (session-name session) sbcl:*source-plist*)))
    (unless *launched* (note-known-systems))  ; the person may have loaded some
    (unwind-protect (funcall function)
      (commit-loaded-files evaluation nil)
      (commit-definitions evaluation)
      (note-packages session *packages-before*)
      (note-new-systems session))))

(defun commit-toplevel (evaluation toplevel)
  "Commit what TOPLEVEL, which has been evaluated to its end, has defined."
  (let ((session (evaluation-session evaluation)) (form (toplevel-form toplevel)))
    (setf (toplevel-endedp toplevel) t
          (toplevel-trails toplevel) '())
    (note-packages session *packages-before*)
    (setf *packages-before* (session-known-packages session))
    (commit-loaded-files evaluation t)
    (call-recording-trouble evaluation
                            (lambda ()
                              (commit-packages evaluation form)
                              (commit-features evaluation form)
                              (commit-readtable evaluation)))
    (commit-definitions evaluation (list toplevel))))

(defun call-recording-files (evaluation file function)
  "Call FUNCTION, which compiles or loads FILE and returns true if it has loaded all of it.
What that defines becomes the session's own."
  (let ((packages (list-all-packages)) (endedp nil)
        (*file-recorder* (make-file-recorder :file (truename file))))
    (unwind-protect (setf endedp (funcall function))
      (commit-recorded evaluation *file-recorder* packages endedp))))

(defun commit-loaded-files (evaluation endedp)
  "Commit what the files define that the code itself has loaded."
  (when *file-recorder*
    (commit-recorded evaluation (shiftf *file-recorder* nil) *packages-before* endedp)))

(defun commit-recorded (evaluation recorder packages-before endedp)
  (let ((toplevels (recorded-toplevels recorder endedp)) (session (evaluation-session evaluation)))
    (adopt-packages session recorder packages-before)
    (call-recording-trouble
     evaluation
     (lambda ()
       (commit-packages evaluation (cons 'progn (mapcar #'toplevel-form toplevels)))
       (commit-features evaluation (mapcar #'toplevel-form toplevels))))
    (commit-definitions evaluation toplevels)
    (drop-candidates session toplevels)))

(defun adopt-packages (session recorder packages-before)
  "Make the packages that the files of RECORDER have made the session's."
  #+sbcl
  (let ((files (loop for (info) in (file-recorder-infos recorder)
                     collect (namestring (sbcl:file-info-pathname
                                          (sbcl:source-info-file-info info))))))
    (setf (session-files session) (union files (session-files session) :test #'string=))
    (dolist (package (set-difference (list-all-packages) packages-before))
      (when (member (package-origin package) files :test #'equal)
        (pushnew package (session-packages session)))))
  #-sbcl (progn session recorder packages-before))
;;;; commit.lisp -- which candidates have defined something: they enter the session's table

(cl:in-package #:swank-mcp)

;;; This is done after each top level form, and at the end of each evaluation however it ended.
;;; It compares the definition of each candidate's name with the one before the candidate.  If
;;; they differ, the session has defined it: the definition enters the session's table, and its
;;; source goes to the bridge as an entry of the journal.

(defun commit-definitions (evaluation &optional toplevels)
  "Commit what has been defined since the last time.  TOPLEVELS have ended, in this order."
  (call-recording-trouble evaluation (lambda () (commit-candidates evaluation toplevels))))

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
         (confirmed (confirmed-candidates session))
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

(defun confirmed-candidates (session)
  "The candidates of SESSION that have made the definitions that are there now, in order.  All
candidates will be compared with these definitions the next time."
  (when (zerop (hash-table-count (session-candidates session)))
    (return-from confirmed-candidates '()))
  (let ((by-key (make-hash-table :test 'equal)) (confirmed '()))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            do (push candidate (gethash (candidate-key candidate) by-key))))
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
    (dolist (candidate (loop for candidate being the hash-values of candidates
                             collect candidate))
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

(defun take-direct-definitions (session)
  (let ((touched (session-direct-definitions session)))
    (when (plusp (hash-table-count touched))
      (with-shared-table (touched)
        (prog1 (sort (loop for key being the hash-keys of touched using (hash-value rest)
                           collect (cons key rest))
                     #'< :key #'fifth)
          (clrhash touched))))))

(defun commit-direct-definitions (evaluation confirmed)
  "Commit what functions have defined without a defining form: it has no source."
  (let ((session (evaluation-session evaluation)))
    (loop for (key before file toplevel) in (take-direct-definitions session)
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
;;;; definitions.lisp -- what a session has defined

(cl:in-package #:swank-mcp)

;;; A session's table has each definition that the session has made and that nobody has
;;; replaced.  list-definitions, reset-session, save-session, the restore after a death and
;;; describe-symbol all use it.  Candidates.lisp and commit.lisp fill it.  OWN-DEFINITIONS
;;; forgets what was undefined, or what a file or somebody else has defined again.

(defstruct (entry (:copier nil))
  order                                 ; integer, increasing
  identity                              ; see DEFINITION-IDENTITY
  boundp                                ; true of a variable that was given a value,
  value                                 ; which is this,
  source                                ; and the text of the top level form that gave it, or NIL
  text                                  ; of the key, for the bridge
  why)                                  ; why there is no source for it, or NIL

(defun interned-p (key)
  (symbol-package (key-symbol key)))

