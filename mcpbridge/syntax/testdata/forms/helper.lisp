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

(defun key-symbol (key)
  "The symbol in the name of KEY."
  (destructuring-bind (kind . name) key
    (function-symbol (if (eq kind :method) (first name) name))))

;;; Is there a definition?

(defun plain-constant-p (form)
  "True if the value of FORM is known without calling a function."
  (typecase form
    (symbol (constantp form))
    (cons (eq (first form) 'quote))
    (t t)))

#+sbcl
(defun specializes-as-p (specializer designator)
  "True if SPECIALIZER, of a method, may be DESIGNATOR in its DEFMETHOD.  The form of an EQL
specializer must not be evaluated a second time."
  (cond ((and (consp designator) (eq (first designator) 'eql))
         (and (typep specializer 'sb-mop:eql-specializer)
              (or (not (plain-constant-p (second designator)))
                  (eql (sb-mop:eql-specializer-object specializer) (eval (second designator))))))
        ((symbolp designator) (eq specializer (find-class designator nil)))
        (t (eq specializer designator))))

(defun methods-designated (designator)
  "The methods that DESIGNATOR may mean.  There may be several if the value of an EQL
specializer's form is unknown."
  (destructuring-bind (name qualifiers specializers) designator
    (when (and (fboundp name) (typep (fdefinition name) 'generic-function))
      #+sbcl
      (remove-if-not (lambda (method)
                       (let ((theirs (sb-mop:method-specializers method)))
                         (and (equal qualifiers (method-qualifiers method))
                              (= (length theirs) (length specializers))
                              (every #'specializes-as-p theirs specializers))))
                     (sb-mop:generic-function-methods (fdefinition name)))
      #-sbcl
      (let ((classes (mapcar (lambda (name) (and (symbolp name) (find-class name nil))) specializers)))
        (and (notany #'null classes)
             (let ((method (find-method (fdefinition name) qualifiers classes nil)))
               (and method (list method))))))))

(defun find-defined-method (designator)
  (first (methods-designated designator)))

(defun resolved-designator (designator method)
  "DESIGNATOR with the objects of METHOD's EQL specializers."
  #+sbcl
  (destructuring-bind (name qualifiers specializers) designator
    (list name qualifiers
          (mapcar (lambda (specializer form)
                    (if (typep specializer 'sb-mop:eql-specializer)
                        (eql-specializer-form (sb-mop:eql-specializer-object specializer))
                        form))
                  (sb-mop:method-specializers method) specializers)))
  #-sbcl (progn method designator))

#+sbcl
(defun internal-definition (kind name)
  "SBCL's object for NAME as a KIND that has no standard accessor."
  (ignore-errors
   (ecase kind
     (:type (sbcl:info :type :expander name))
     (:structure (sbcl:info :typed-structure :info name)) ; (DEFSTRUCT (NAME (:TYPE LIST)))
     (:setf-expander (sbcl:info :setf :expander name))
     (:alien-type (sbcl:info :alien-type :definition name))
     (:alien-variable (sbcl:info :variable :alien-info name))
     (:method-combination (gethash name sbcl:**method-combinations**))
     (:hash-table-test (assoc name sbcl:*user-hash-table-tests*)))))

(defun definedp (kind name)
  (case kind
    (:function (and (fboundp name)
                    (not (typep (fdefinition name) 'generic-function))
                    (not (and (symbolp name)
                              (or (macro-function name) (special-operator-p name))))))
    (:generic-function (and (fboundp name) (typep (fdefinition name) 'generic-function)))
    (:macro (and (macro-function name) t))
    (:compiler-macro (and (compiler-macro-function name) t))
    ((:variable :constant) (boundp name))
    (:symbol-macro (not (eq name (macroexpand-1 name))))
    ((:class :condition) (and (find-class name nil) t))
    (:structure (and (or (find-class name nil) #+sbcl (internal-definition kind name)) t))
    (:method (and (methods-designated name) t))
    (t #+sbcl (and (internal-definition kind name) t) #-sbcl t)))

(defun surely-defined-p (kind name)
  "DEFINEDP, but false where the implementation cannot tell."
  (and #-sbcl (not (member kind '(:type :setf-expander :method-combination)))
       (definedp kind name)))

;;; The identity of a definition

#+sbcl
(defun source-location (kind name)
  "SBCL's source location of NAME, for a KIND that is redefined in place.  Each evaluation of
the defining form makes a new one."
  (ignore-errors
   (ecase kind
     ((:variable :constant :symbol-macro) (sbcl:info :source-location kind name))
     (:type (sbcl:info :type :source-location name))
     (:generic-function (sbcl:definition-source (fdefinition name)))
     (:method (sbcl:definition-source (find-defined-method name)))
     (:class (sbcl:definition-source (find-class name)))
     ((:structure :condition)
      (sbcl:classoid-source-location (sbcl:find-classoid name))))))

(defun definition-identity (kind name)
  "A list of objects that identify the definition of NAME: each new definition has others.  NIL
if there is no definition."
  (handler-case
      (case kind
        ;; (DEFVAR X) gives no value, and (SETF X 1) no location
        (:variable #+sbcl (let ((location (source-location kind name)))
                            (and (or location (boundp name)) (list location)))
                   #-sbcl (and (boundp name) (list t)))
        (t (and (definedp kind name)
                (case kind
                  (:function (list (fdefinition name)))
                  (:macro (list (macro-function name)))
                  (:compiler-macro (list (compiler-macro-function name)))
                  (:method (methods-designated name))
                  #+sbcl
                  ((:constant :symbol-macro) (list (source-location kind name)))
                  (:generic-function (list (fdefinition name) #+sbcl (source-location kind name)))
                  (:structure (if (find-class name nil)
                                  (list (find-class name)
                                        #+sbcl (sbcl:find-defstruct-description name))
                                  #+sbcl (list (internal-definition kind name))))
                  ((:class :condition) (list (find-class name) #+sbcl (source-location kind name)))
                  #+sbcl
                  (:method-combination
                   (let ((info (internal-definition kind name)))
                     (list info (sbcl:method-combination-info-source-location info))))
                  (t #+sbcl (list (internal-definition kind name)) #-sbcl (list t))))))
    (error () nil)))

(defun same-identity-p (a b)
  (and (= (length a) (length b)) (every #'eql a b)))
;;;; listing.lisp -- LIST-DEFINITIONS, LIST-PACKAGES

(cl:in-package #:swank-mcp)

(defparameter *sections*
  '((:function . :functions) (:variable . :variables) (:macro . :macros) (:class . :classes)
    (:generic-function . :generic-functions) (:structure . :structures)
    (:condition . :conditions) (:type . :types) (:constant . :constants)
    (:symbol-macro . :symbol-macros) (:setf-expander . :setf-functions)
    (:compiler-macro . :compiler-macros) (:method-combination . :method-combinations)
    (:hash-table-test . :hash-table-tests) (:alien-type . :alien-types)
    (:alien-variable . :alien-variables))
  "Kind to section; methods stand under their generic function.")

(defparameter *printing-seconds* 2
  "How long all values of a list may take to print.")

(defvar *print-until* nil
  "The time, see MICROSECONDS, when the list stops calling methods to print values.")

(defun value-line (value)
  "The beginning of VALUE, printed by its own PRINT-OBJECT method if that ends soon.  Once the
list has taken too long, no method is called any more."
  (if (and *print-until* (> (microseconds) *print-until*))
      (one-line (show-form value *package*))
      (call-with-time-limit 1/2
                            (lambda () (one-line (bounded-text value 100)))
                            (lambda (lock) (declare (ignore lock)) "#<printing it takes too long>"))))

(defun lambda-list-text (name)
  (safely
    (let ((arglist (swank/backend:arglist #+sbcl (or (and (symbolp name) (macro-function name)) name)
                                          #-sbcl name))
          (*package* *package*) (*print-gensym* nil))
      (cond ((eq arglist :not-available) "(...)")
            ((null arglist) "()")
            (t (let ((parameter (find-if #'ordinary-symbol-p
                                         (mapcar (lambda (item) (if (consp item) (first item) item))
                                                 (if (ignore-errors (list-length arglist)) arglist '())))))
                 (when parameter (setf *package* (symbol-package parameter)))
                 (prin1-to-string arglist)))))))

(defun ordinary-symbol-p (object)
  "True of a parameter's name in whose package a lambda list prints best."
  (and object (symbolp object) (symbol-package object)
       (not (member object lambda-list-keywords))
       (not (eq (symbol-package object) (find-package '#:common-lisp)))))

(defun slot-names-text (class)
  #+sbcl (safely (let ((*package* (or (symbol-package (class-name class)) *package*)))
                   (format nil "(~{~S~^ ~})"
                           (mapcar #'sb-mop:slot-definition-name (sb-mop:class-direct-slots class)))))
  #-sbcl (progn class ""))

(defun definition-line (kind name)
  (let ((text (name-text name)))
    (flet ((with (more) (format nil "~A ~A" text more)))
      (case kind
        ((:function :macro :generic-function :compiler-macro)
         (with (lambda-list-text name)))
        ((:variable :constant) (format nil "~A = ~A" text (value-line (symbol-value name))))
        (:symbol-macro (format nil "~A = ~A" text (value-line (macroexpand-1 name))))
        (:structure (if (find-class name nil) (with (slot-names-text (find-class name))) text))
        (t text)))))

(defun definition-line-and-loss (session kind name)
  (let ((why (why-lost session (cons kind name))))
    (format nil "~A~@[ ; no source: ~A~]" (definition-line kind name)
            (and why (string/= why *assigned-why*) why))))

(defun method-line (designator)
  (destructuring-bind (name qualifiers specializers) designator
    (declare (ignore name))
    (safely (format nil "  ~{~S ~}~:S" qualifiers specializers))))

(defun section-of (kind name)
  (if (and (eq kind :function) (consp name))
      :setf-functions
      (cdr (assoc kind *sections*))))

(defun generic-lines (definitions)
  "A line for each generic function that was defined or got methods, and one for each of these
methods."
  (let ((names (sort (remove-duplicates
                      (loop for (kind . name) in definitions
                            when (eq kind :generic-function) collect name
                            when (eq kind :method) collect (first name))
                      :test #'equal)
                     #'string< :key #'name-text)))
    (loop for name in names
          collect (definition-line :generic-function name)
          append (sort (loop for (kind . designator) in definitions
                             when (and (eq kind :method) (equal (first designator) name))
                               collect (method-line designator))
                       #'string<))))

(defun definitions-by-section (session &optional package)
  "Alist of section to its lines, sorted, without empty sections; with PACKAGE, only of its names."
  (let ((definitions (remove-if-not (lambda (key)
                                      (or (null package)
                                          (eq package (symbol-package (key-symbol key)))))
                                    (own-definitions session)))
        (lines (make-hash-table)))
    (loop for (kind . name) in definitions
          unless (member kind '(:method :generic-function))
            do (push (definition-line-and-loss session kind name)
                     (gethash (section-of kind name) lines)))
    (let ((generic (generic-lines definitions))
          (packages (if package '() (mapcar #'package-name (own-packages session))))
          (systems (if package '() (mapcar #'string-upcase (session-systems session)))))
      (append (loop for section being the hash-keys of lines using (hash-value found)
                    collect (cons section (sort found #'string<)))
              (and generic (list (cons :generic-functions generic)))
              (and packages (list (cons :packages packages)))
              (and systems (list (cons :loaded-systems (sort systems #'string<))))))))

(defun list-definitions (&optional (session "default") package)
  "((SECTION LINE ...) ...): what SESSION has defined and is still so, in all
packages or the one called PACKAGE.  ((\"unknown-package\" TEXT)) if there is none."
  (let ((found (and package (find-package-named package)))
        (*print-until* (+ (microseconds) (* 1000000 *printing-seconds*))))
    (call-with-listing-syntax
     (lambda ()
       (answer (if (and package (null found))
                   (list (list "unknown-package" (unknown-package-text package)))
                   (loop for (section . lines) in (definitions-by-section (ensure-session session) found)
                         collect (cons (string-downcase section) lines))))))))

(defun list-packages (&optional (session "default"))
  "((NAME NICKNAMES EXTERNAL-COUNT CURRENTP OWNP IMPLEMENTATIONP) ...), by name: whether
it is the session's package, one that the session made, one of the Lisp system's."
  (let* ((session (ensure-session session))
         (current (live-package session)))
    (answer
     (sort (loop for package in (list-all-packages)
                 collect (list (package-name package)
                               (package-nicknames package)
                               (let ((count 0))
                                 (do-external-symbols (symbol package count)
                                   (declare (ignore symbol))
                                   (incf count)))
                               (eq package current)
                               (and (member package (session-packages session)) t)
                               (and (internal-package-p package) t)))
           #'string< :key #'first))))
;;;; loaded-systems.lisp -- the systems that a session has loaded

(cl:in-package #:swank-mcp)

(defvar *known-systems* '() "The systems that were loaded when ASDF knew *REGISTERED* of them.")
(defvar *registered* 0 "How many systems ASDF knew when *KNOWN-SYSTEMS* was set.")

(defun note-known-systems ()
  "Systems already loaded belong to no session."
  (let ((registered (registered-systems)))
    (unless (= registered *registered*)
      (setf *registered* registered
            *known-systems* (loaded-systems)))))

(defun note-system (session name)
  (setf (session-systems session)
        (cons name (remove name (session-systems session) :test #'string=)))
  (when *evaluation*
    (unless (assoc name (evaluation-loaded *evaluation*) :test #'string=)
      (push (cons name (unfindable-files name)) (evaluation-loaded *evaluation*)))))

(defun note-new-systems (session)
  "Add the systems that were loaded by any code to those of SESSION, without the ones that they
needed.  While another session evaluates, the last to end does this."
  (let ((registered (registered-systems)))
    (unless (or (= registered *registered*) (others-work-p session))
      (let* ((loaded (loaded-systems))
             (new (remove-if #'asdf-itself-p
                             (set-difference loaded *known-systems* :test #'string=)))
             (needed (mapcan #'direct-dependencies new)))
        (setf *registered* registered
              *known-systems* loaded)
        (dolist (name (set-difference new needed :test #'string=))
          (unless (member name (session-systems session) :test #'string=)
            (note-system session name)))))))

(defun note-loaded (session designator)
  "Note that SESSION has loaded the system DESIGNATOR; what that has added to packages joins the
baseline."
  (let ((name (unquoted designator)))
    (when (and name (typep name '(or symbol string)))
      (note-system session (string-downcase name))))
  (loading-ended (shiftf (session-before-load session) nil)))

(defun load-system-in (session name load)
  "Call LOAD, which loads the system NAME, and note that SESSION has loaded it."
  (setf (session-before-load session) (before-loading))
  (funcall load)
  (note-loaded session name))
;;;; packages.lisp -- packages that a session makes, features that it adds, its readtable

(cl:in-package #:swank-mcp)

;;; Many operators, most of them functions, make and change packages.  So packages are compared
;;; before and after.  If a plain form at top level, such as DEFPACKAGE, has changed one, its
;;; source is that form.  Otherwise it is a DEFPACKAGE made from the package as it is now.

(defparameter *package-operators*
  '(defpackage use-package unuse-package import export unexport shadow
    shadowing-import rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package)
  "Operators whose calls at top level change packages.")

(defparameter *package-makers* '(defpackage rename-package delete-package)
  "Those that are not read in the current package: it may be the one that they make.")

(defun form-source (form package)
  "FORM printed so that it can be read again in PACKAGE; NIL if it cannot."
  (with-standard-io-syntax
    ;; only the pretty printer of SBCL prints a backquote as such
    (let ((*package* package) (*print-circle* t)
          (*print-pretty* t) (*print-right-margin* 100) (*print-miser-width* nil))
      (ignore-errors (prin1-to-string form)))))

#+sbcl
(defun package-origin (package)
  "The file that made PACKAGE, and the name of the session in its source location."
  (let ((location (ignore-errors (sbcl:package-source-location package))))
    (and location
         (values (sbcl:definition-source-location-namestring location)
                 (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))

(defun package-of-a-file-p (package)
  (and (package-origin package) t))

(defun made-by-p (session package)
  (multiple-value-bind (file owner) (package-origin package)
    (cond ((not *launched*) (not (persons-package-p session package)))
          (file (enter-record package) nil)
          (owner (equal owner (session-name session)))
          (t (not (or (others-work-p session) (others-package-p session package)))))))

(defun others-package-p (session package)
  (with-lock ()
    (loop for other being the hash-values of *sessions*
          thereis (and (not (eq other session))
                       (member package (session-packages other))))))

(defun note-packages (session before)
  (let ((after (all-packages)))
    (unless (equal before after)
      (dolist (package (set-difference after before))
        (when (made-by-p session package)
          (pushnew package (session-packages session)))))
    (setf (session-known-packages session) after)))

(defun still-own-package-p (session package)
  "False if a file that is not the session's has defined PACKAGE again."
  (let ((file (package-origin package)))
    (or (null file) (not *launched*) (member file (session-files session) :test #'string=))))

(defun own-packages (session)
  "The packages that SESSION made and that still exist, by name."
  (sort (remove-if-not #'package-name (session-packages session))
        #'string< :key #'package-name))

;;; The state of a package as a form

(defun package-form (package)
  "A DEFPACKAGE that makes PACKAGE as it is, without its own internal symbols."
  (let ((shadowing (package-shadowing-symbols package)) (imports '()) (exports '()))
    (call-with-present-symbols
     (lambda (symbol status)
       (when (eq status :external) (push (symbol-name symbol) exports))
       (unless (or (eq (symbol-package symbol) package)
                   (null (symbol-package symbol))
                   (member symbol shadowing))
         (push symbol imports)))
     package)
    (do-external-symbols (symbol package) (pushnew (symbol-name symbol) exports :test #'string=))
    (flet ((names (symbols) (sort (mapcar (lambda (s) (plain-string (symbol-name s))) symbols)
                                  #'string<))
           (strings (strings) (sort (mapcar #'plain-string strings) #'string<))
           (from (option symbols)
             (loop for symbol in (sort (copy-list symbols) #'string< :key #'symbol-name)
                   collect (list option (plain-string (package-name (symbol-package symbol)))
                                 (plain-string (symbol-name symbol))))))
      `(defpackage ,(plain-string (package-name package))
         ,@(and (package-nicknames package) `((:nicknames ,@(strings (package-nicknames package)))))
         (:use ,@(strings (mapcar #'package-name (package-use-list package))))
         ,@(let ((own (remove package shadowing :key #'symbol-package :test-not #'eq)))
             (and own `((:shadow ,@(names own)))))
         ,@(from :shadowing-import-from (remove package shadowing :key #'symbol-package))
         ,@(from :import-from imports)
         ,@(and exports `((:export ,@(strings exports))))
         #+sbcl ,@(loop for (nick . real) in (sb-ext:package-local-nicknames package)
                        collect `(:local-nicknames (,(plain-string nick)
                                                    ,(plain-string (package-name real)))))
         #+sbcl ,@(and (sb-ext:package-locked-p package) '((:lock t)))
         ,@(and (documentation package t) `((:documentation ,(documentation package t))))))))

(defun plain-package-forms (form)
  "The forms in the top level FORM that change packages and have journal entries themselves."
  (when (and (consp form) (symbolp (first form)))
    (cond ((member (first form) '(progn eval-when))
           (loop for part in (rest form) append (plain-package-forms part)))
          ((member (first form) *package-operators*) (list form)))))

(defun names-package-p (form package)
  "True if FORM is a DEFPACKAGE of PACKAGE."
  (and (eq (first form) 'defpackage)
       (string= (string (second form)) (package-name package))))

(defun own-package-name-p (session designator)
  "True if DESIGNATOR, a form, is the name of a package that SESSION has made."
  (let ((name (unquoted designator)))
    (and (typep name '(or symbol string))
         (member (string name) (session-package-names session) :test #'string=))))

(defvar *package-changes* 0
  "How often something may have changed a package in a launched image.")

(defun packages-touched-p (session form)
  "True if the evaluation of FORM may have changed packages."
  (or (and (consp form) (member (first form) '(make-package delete-package)))
      (/= *package-changes* (session-package-changes session))
      (/= (length (session-packages session)) (length (session-package-forms session)))
      (names-used *package-operators* form)))

(defun commit-packages (evaluation form)
  "Put changes of the session's packages by FORM into the journal.  Plain forms in FORM have
entries already."
  (let ((session (evaluation-session evaluation)))
    (when (packages-touched-p session form)
      (setf (session-package-changes session) *package-changes*)
      (compare-packages evaluation (plain-package-forms form)))))

(defun compare-packages (evaluation forms)
  (let ((session (evaluation-session evaluation)))
    (dolist (package (session-packages session))
      (let* ((known (assoc package (session-package-forms session)))
             (name (package-name package))
             (form (and name (package-form package))))
        (cond ((null name)
               (enter-deletion evaluation package known))
              ((not (still-own-package-p session package))
               (forget-package session package known))
              ((and known (equal form (cdr known))))
              (t (unless (if known forms (find package forms :test (lambda (p f) (names-package-p f p))))
                   (enter-package-form evaluation known form))
                 (if known
                     (setf (cdr known) form)
                     (push (cons package form) (session-package-forms session)))
                 (pushnew name (session-package-names session) :test #'string=)))))))

(defun plain-string (string)
  "STRING as one that prints in quotes, whatever its element type."
  (coerce string '(simple-array character (*))))

(defun package-key (name)
  (with-standard-io-syntax (prin1-to-string (cons :package (plain-string name)))))

(defun enter-package-form (evaluation known form)
  (let ((name (second form)) (old (second (cdr known))))
    (when (and known (string/= old name))
      (push-entry evaluation (package-key old) `(rename-package ,old ,name)))
    (push-entry evaluation (package-key name) form)))

(defun forget-package (session package known)
  "Forget PACKAGE, which a file has defined again."
  (drop-package session package known)
  (with-lock () (push (package-key (package-name package)) (session-gone session))))

(defun drop-package (session package known)
  (setf (session-package-forms session) (remove known (session-package-forms session))
        (session-packages session) (remove package (session-packages session))))

(defun enter-deletion (evaluation package known)
  "Put the deletion of PACKAGE into the journal.  A restore makes it first, because definitions
in between may name its symbols."
  (drop-package (evaluation-session evaluation) package known)
  (when known
    (let* ((name (second (cdr known))) (form `(when (find-package ,name) (delete-package ,name))))
      (push-entry evaluation
                  (with-standard-io-syntax (prin1-to-string (list :form :delete name)))
                  form))))

(defun push-entry (evaluation key form)
  (let ((source (form-source form (find-package '#:common-lisp-user))))
    (when source
      (note-journal-entry evaluation (list (list key) source "COMMON-LISP-USER" 0 nil nil)
                          (session-definition-count (evaluation-session evaluation))))))

;;; Features

(defun commit-features (evaluation form)
  "Put features that FORM has added or removed into the journal: later code may test them."
  (let* ((session (evaluation-session evaluation)) (known (session-features session)))
    (unless (eq *features* known)
      (setf (session-features session) *features*)
      ;; what a system has pushed a restore has from the system
      (when (or (names-used '(*features*) form)
                (and *launched* (eql *undefinitions* (session-undefinitions session))))
        (loop for feature in (set-exclusive-or known *features*)
              when (symbolp feature)
                do (push-entry evaluation
                               (with-standard-io-syntax (prin1-to-string (cons :feature feature)))
                               (if (member feature *features*)
                                   `(pushnew ',feature *features*)
                                   `(setf *features* (remove ',feature *features*)))))))))

;;; The readtable

(defun readtable-differences (readtable base)
  "True if READTABLE reads a character of ASCII differently from BASE."
  (flet ((differs (a b)
           (not (or (eq a b)
                    ;; a dispatching character has a closure that is copied with the table
                    (and (functionp a) (functionp b) (not (symbolp a)) (not (symbolp b))
                         #+sbcl (and (sbcl:closurep a) (sbcl:closurep b)))))))
    (loop for code below 128
          for char = (code-char code)
          thereis (or (differs (get-macro-character char readtable)
                               (get-macro-character char base))
                      (and (not (digit-char-p char))
                           (differs (ignore-errors (get-dispatch-macro-character #\# char readtable))
                                    (ignore-errors (get-dispatch-macro-character #\# char base))))))))

(defvar *readtable-changes* 0
  "How often something may have changed a readtable in a launched image.")

(defun commit-readtable (evaluation)
  "Report changes of the session's readtable as lost: they are not restored."
  (let ((session (evaluation-session evaluation)))
    (unless (= *readtable-changes* (session-readtable-changes session))
      (setf (session-readtable-changes session) *readtable-changes*)
      (when (readtable-changed-p session)
        (setf (session-readtable-why session)
              "characters of it were given another meaning")
        (push (list (readtable-key) (session-readtable-why session))
              (evaluation-losses evaluation))))))

(defun readtable-changed-p (session)
  "True if the session's code has changed its readtable in place."
  (readtable-differences (session-readtable session) (session-first-syntax session)))

;;; In a person's image

#+sbcl
(defun persons-package-p (session package)
  "True if the person may have made PACKAGE while SESSION evaluated.  A DEFPACKAGE of ours has
our name in its source location; for MAKE-PACKAGE the name is searched in our code."
  (let ((location (ignore-errors (sbcl:package-source-location package))))
    (if location
        (or (package-of-a-file-p package)
            (not (equal (getf (sb-introspect:definition-source-plist
                               (sbcl:translate-source-location location))
                              :swank-mcp)
                        (session-name session))))
        (not (named-in-p (package-name package)
                         (safely (princ-to-string (evaluation-code *evaluation*))))))))

(defun named-in-p (name code)
  "True if NAME is a word of CODE, in any case: A is one of :a and \"A\", not of LAMBDA."
  (flet ((part-of-word-p (at)
           (and (< -1 at (length code))
                (or (alphanumericp (char code at)) (find (char code at) "-+*/.%&$")))))
    (loop for start = 0 then (1+ at)
          for at = (search name code :start2 start :test #'char-equal)
          while at
          thereis (not (or (part-of-word-p (1- at)) (part-of-word-p (+ at (length name))))))))
;;;; recording.lisp -- the top level forms of files that the session compiles or loads

(cl:in-package #:swank-mcp)

;;; Files that a session loads, by LOAD-SOURCE, by COMPILE-SOURCE or by LOAD in its code, count
;;; as code that it evaluates.  What they define is listed, undefined by a reset, and restored
;;; when the image has died.  The restore evaluates the defining forms, not the file, whose other
;;; effects must not happen again.  SBCL keeps the forms in SB-C::*SOURCE-INFO*; we read it
;;; whenever a macro is expanded, and definitions are macro calls.  Files of systems belong to
;;; ASDF, and so does what they define.

(defstruct (file-recorder (:copier nil))
  file                   ; truename of the one asked for; NIL if code has called LOAD
  (infos '())            ; (SOURCE-INFO . number of forms seen), newest first
  (forms '())            ; toplevels, newest first
  (package *package*))

(defun adopt-file ()
  "Record the definitions of the file that the session's code is loading or compiling, unless
ASDF does that."
  (unless (or *file-recorder* (systems-file-p))
    (setf *file-recorder* (make-file-recorder))))

(defun systems-file-p ()
  "True while ASDF works, or a file of a system or of SBCL is being loaded."
  (or (asdf-at-work-p)
      (and *load-truename*
           (or (equalp (pathname-type *load-truename*) "asd")
               #+sbcl (module-file-p *load-truename*)))))

#+sbcl
(defun module-file-p (file)
  "True of SBCL's own modules, which REQUIRE loads."
  (and (equal (first (last (pathname-directory file))) "contrib")
       (stringp (pathname-name file))
       (or (eql 0 (search "sb-" (pathname-name file)))
           (member (pathname-name file) '("asdf" "uiop") :test #'string=))))

(defun own-file-p ()
  "True while the recorder's file, or a source file that it loads, is compiled or loaded."
  (let ((file (file-recorder-file *file-recorder*)))
    (cond ((systems-file-p) nil)
          ((null file) t)
          (*compile-file-truename* (equal *compile-file-truename* file))
          (*load-truename* t))))

#+sbcl
(defun file-being-read ()
  "The SOURCE-INFO of the innermost file that is being compiled or loaded.  Code that EVAL
compiles has one of its own, without a stream."
  (loop for info = sbcl:*source-info* then (sbcl:source-info-parent info)
        while info
        when (sbcl:source-info-stream info) return info))

#+sbcl
(defun record-forms (recorder)
  "Record the top level forms that were read since the last time."
  (let ((info (file-being-read)))
    (when (and info (own-file-p))
      (unless (assoc info (file-recorder-infos recorder))
        (push (cons info 0) (file-recorder-infos recorder)))
      (setf (file-recorder-package recorder) *package*)
      (record-rest recorder))))

#+sbcl
(defun record-rest (recorder)
  (loop for entry in (reverse (file-recorder-infos recorder))
        for (info . seen) = entry
        for forms = (sbcl:file-info-forms (sbcl:source-info-file-info info))
        do (loop for i from seen below (length forms)
                 do (let ((before (first (file-recorder-forms recorder))))
                      ;; LOAD reads a form when it has evaluated the one before
                      (when (and before (not *compile-file-truename*))
                        (setf (toplevel-endedp before) t)))
                    (push (make-toplevel :form (aref forms i) :info info
                                         :package (file-recorder-package recorder))
                          (file-recorder-forms recorder)))
           (setf (cdr entry) (length forms))))

#+sbcl
(defun recorded-toplevel (recorder)
  "The top level form that is being processed."
  (let ((info (file-being-read)))
    (and info (find info (file-recorder-forms recorder) :key #'toplevel-info))))

(defun recorded-toplevels (recorder endedp)
  "The forms of RECORDER, in order.  ENDEDP is true if all were evaluated to their end."
  #+sbcl (record-rest recorder)
  (let ((forms (reverse (file-recorder-forms recorder))))
    (when endedp
      (dolist (toplevel forms) (setf (toplevel-endedp toplevel) t)))
    forms))
;;;; replaced.lisp -- definitions of somebody else's that a session replaces

(cl:in-package #:swank-mcp)

;;; In a person's image the definition that a session replaces is saved.  The reply says that it
;;; was replaced, and RESET-SESSION restores it.  What SBCL changes in place, such as classes,
;;; cannot be restored: the reply of the reset names it.

(defun namespace-of (key)
  "KEY with a kind that is the same for kinds that exclude each other, as function and macro."
  (destructuring-bind (kind . name) key
    (cons (case kind
            ((:function :macro :generic-function) :function)
            ((:variable :constant :symbol-macro) :variable)
            ((:class :structure :condition :type) :class)
            (t kind))
          name)))

(defun saved-definition (key)
  "The present definition in the namespace of KEY, as a list for RESTORE-DEFINITION, or NIL.
(:LEFT) is one that cannot be restored."
  (destructuring-bind (kind . name) key
    (flet ((left () (and (definedp kind name) (list :left))))
      (case (car (namespace-of key))
        (:function
         (cond ((not (fboundp name)) nil)
               ((and (eq kind :generic-function) (definedp kind name)) (list :left))
               ((and (symbolp name) (special-operator-p name)) nil)
               ((and (symbolp name) (macro-function name)) (list :macro (macro-function name)))
               (t (list :function (fdefinition name)))))
        (:compiler-macro
         (and (definedp kind name) (list :compiler-macro (compiler-macro-function name))))
        #+sbcl
        (:variable
         (cond ((or (definedp :symbol-macro name) (constantp name)) (list :left))
               ((not (definition-identity :variable name)) nil)
               (t (list* :variable (source-location :variable name) (documentation name 'variable)
                         (and (boundp name) (list (symbol-value name)))))))
        #+sbcl
        (:method
         (let ((method (first (methods-designated name))))
           (and method (list :method (sb-mop:method-generic-function method) method))))
        (:class (and (or (find-class name nil) (definedp kind name)) (list :left)))
        (t (left))))))

(defun session-made-p (session key)
  "True if SESSION has made the definition in the namespace of KEY."
  (or #+sbcl (and (eq (car key) :method)
                  (let ((location (source-location :method (cdr key))))
                    (and location
                         (equal (session-name session)
                                (getf (sbcl:definition-source-location-plist location) :swank-mcp)))))
      (some (lambda (kind)
              (let* ((key (cons kind (cdr key)))
                     (entry (gethash key (session-definitions session))))
                (and entry (still-made-p key entry))))
            (or (find (car key) *sibling-kinds* :test #'member) (list (car key))))))

#+sbcl
(defun from-built-file-p (key)
  "True if the definition of KEY comes from a file of a system that was loaded through us."
  (ignore-errors
   (destructuring-bind (kind . name) key
     (let ((file (if (member kind '(:function :macro :generic-function))
                     (function-file (or (and (symbolp name) (macro-function name))
                                        (fdefinition name)))
                     (location-file (source-location kind name)))))
       (and file (built-through-us-p file))))))

(defun definition-replaced-by (session key toplevel)
  "The definition of somebody else's that a form in TOPLEVEL would replace if it defines KEY, as
SAVED-DEFINITION has it, or NIL."
  (unless *launched*
    (ignore-errors
     (let ((earlier (and toplevel (earlier-candidate session key toplevel))))
       (cond (earlier (candidate-replaced earlier))
             ((not (session-made-p session key)) (saved-definition key)))))))

(defun require-permission (key)
  "End the current evaluation if the person, who may want to be asked, does not allow that it redefines
KEY."
  (let ((report (and *ask-person* *evaluation*
                     (forbidden-report *evaluation* (key-label key)))))
    (when report
      (funcall (evaluation-escape *evaluation*) report))))

(defun earlier-candidate (session key toplevel)
  "A candidate in the same TOPLEVEL, which may have replaced the definition before."
  (let ((place (namespace-of key)))
    (with-shared-table ((session-candidates session))
      (loop for candidate being the hash-values of (session-candidates session)
            when (and (eq toplevel (candidate-toplevel candidate))
                      (equal place (namespace-of (candidate-key candidate))))
              return candidate))))

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

(defparameter *package-functions*
  '(export unexport import shadowing-import shadow use-package unuse-package
    rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package))

(defparameter *readtable-functions*
  '(set-macro-character set-dispatch-macro-character make-dispatch-macro-character
    set-syntax-from-char))

(defun watch-undefiners ()
  "Count calls: of functions that undefine in *UNDEFINITIONS*, of those that change packages in
*PACKAGE-CHANGES*, of those that change readtables in *READTABLE-CHANGES*."
  #+sbcl
  (flet ((watch (names tag count)
           (dolist (name names)
             (unless (sbcl:encapsulated-p name tag)
               (sbcl:encapsulate name tag
                                 (lambda (function &rest arguments)
                                   (funcall count)
                                   (apply function arguments)))))))
    (watch *undefining-functions* 'swank-mcp (lambda () (incf *undefinitions*)))
    (watch *package-functions* 'swank-mcp-packages (lambda () (incf *package-changes*)))
    (watch *readtable-functions* 'swank-mcp-readtables (lambda () (incf *readtable-changes*)))))

(defun take-gone (session)
  (with-lock () (shiftf (session-gone session) '())))

(defun undefined-since (session)
  "The keys of SESSION's definitions that were undefined since this was called last."
  (unless (eql *undefinitions* (session-undefinitions session))
    (setf (session-undefinitions session) *undefinitions*)
    (own-definitions session))
  (and (session-gone session) (take-gone session)))

(defun undefined-definitions (&optional (session "default"))
  "Answer the keys of SESSION's definitions that are gone, for a file to be saved; and have ASDF
compile what has changed on disk when the file loads SESSION's systems."
  (let ((session (ensure-session session)))
    (own-definitions session)
    (outdate-for-others (session-systems session))
    (answer (take-gone session))))
;;;; apropos.lisp -- APROPOS-SEARCH and COMPLETE-SYMBOL

(cl:in-package #:swank-mcp)

;;; Kinds

(defun symbol-kinds (symbol)
  "The kinds of what SYMBOL names: of :FUNCTION, :GENERIC-FUNCTION, :MACRO, :SPECIAL-OPERATOR,
:VARIABLE, :CONSTANT, :CLASS and :TYPE."
  (let ((variable (variable-kind symbol)))
    (remove nil
            (list (cond ((special-operator-p symbol) :special-operator)
                        ((macro-function symbol) :macro)
                        ((not (fboundp symbol)) nil)
                        ((typep (fdefinition symbol) 'generic-function) :generic-function)
                        (t :function))
                  (cond ((keywordp symbol) nil)
                        ((eq variable :constant) :constant)
                        ((or (member variable '(:special :global :macro)) (boundp symbol)) :variable))
                  (cond ((find-class symbol nil) :class)
                        ((surely-defined-p :type symbol) :type))))))

(defun names-kind-p (symbol kind)
  "True if SYMBOL names a KIND, a keyword; if KIND is NIL, if it names anything."
  (let ((kinds (symbol-kinds symbol)))
    (if kind
        (or (member kind kinds)
            (and (eq kind :function) (intersection '(:generic-function :special-operator) kinds)))
        kinds)))

(defun kinds-text (symbol)
  (format nil "~{~A~^, ~}"
          (mapcar (lambda (kind) (substitute #\space #\- (string-downcase kind)))
                  (symbol-kinds symbol))))

(defun brief-line (symbol spelled)
  "A line about SYMBOL: SPELLED, its kinds, lambda list, and the beginning of its documentation."
  (let* ((kinds (symbol-kinds symbol))
         (documentation (or (and (fboundp symbol) (safely (documentation symbol 'function)))
                            (safely (documentation symbol 'variable))
                            (safely (documentation symbol 'type))))
         (text (if (stringp documentation)
                   (string-trim " " (substitute #\space #\newline documentation))
                   "")))
    (format nil "- ~A~@[ ~A~]~@[ ~A~]~:[: ~A~;~]" spelled
            (and kinds (kinds-text symbol))
            (and (intersection kinds '(:function :macro :generic-function))
                 (clip (lambda-list-text symbol) 120))
            (string= text "") (clip text 100))))

;;; Searching

(defun split-words (text)
  (loop with start = 0
        for begin = (position-if-not #'blankp text :start start)
        while begin
        collect (let ((end (or (position-if #'blankp text :start begin) (length text))))
                  (setf start end)
                  (subseq text begin end))))

(defun match-rank (words name)
  "How well NAME matches WORDS, which must all be in it: from 0, the name itself, to 3, somewhere
inside; NIL if it does not."
  (let ((worst 0))
    (dolist (word words worst)
      (let ((at (search word name :test #'char-equal)))
        (setf worst
              (max worst
                   (cond ((null at) (return nil))
                         ((= (length word) (length name)) 0)
                         ((string-equal word (string-trim "*+%" name)) 0)
                         ((<= at (or (position-if-not (lambda (char) (find char "*+%")) name) 0)) 1)
                         ((find (char name (1- at)) "-*+%/.") 2)
                         (t 3))))))))

(defun home-rank (symbol)
  (let ((home (symbol-package symbol)))
    (cond ((eq home (find-package '#:common-lisp)) 1)
          ((preferred-p symbol) 0)
          (t 2))))

(defun shown-symbol-p (home status)
  "False of internal symbols of the system, which only a search in their package shows."
  (or (eq status :external)
      (not (internal-package-p home))))

(defun documentation-texts (symbol)
  (loop for kind in '(function variable type)
        for text = (safely (documentation symbol kind))
        when (and (stringp text) (string/= text "")) collect text))

(defun documented-words (words symbol)
  "The words of WORDS that are in the documentation of SYMBOL, in a list behind that text; NIL unless
the others are in its name.  Short words are in any text."
  (let ((missing (remove-if (lambda (word) (search word (symbol-name symbol) :test #'char-equal)) words)))
    (when (every (lambda (word) (>= (length word) 3)) missing)
      (loop for text in (documentation-texts symbol)
            when (every (lambda (word) (search word text :test #'char-equal)) missing)
              return (cons text missing)))))

(defun search-symbols (words kind package externals-only)
  "(VALUES ((RANKS . SYMBOL) ...) LEFT-OUT DOCUMENTED), unsorted.  LEFT-OUT counts the system's
internal symbols.  DOCUMENTED are more (RANKS . SYMBOL), of symbols with words in their
documentation."
  (let ((found '()) (left-out 0) (documented '()))
    (flet ((consider (symbol home status)
             (when (and (eq home (symbol-package symbol))
                        (or (not externals-only) (eq status :external))
                        (names-kind-p symbol kind))
               (let ((rank (match-rank words (symbol-name symbol)))
                     (shownp (or package (shown-symbol-p home status))))
                 (cond ((and rank shownp)
                        (push (cons (list (cond ((zerop rank) 0) ((preferred-p symbol) 1)
                                                ((= 1 (home-rank symbol)) 1) (t 2))
                                          rank (home-rank symbol) (if (eq status :external) 0 1)
                                          (length (symbol-name symbol)))
                                    symbol)
                              found))
                       (rank (incf left-out))
                       ((and shownp (documented-words words symbol))
                        (push (cons (list (home-rank symbol) (if (eq status :external) 0 1)) symbol)
                              documented)))))))
      (dolist (home (if package (list package) (list-all-packages)))
        (call-with-present-symbols
         (lambda (symbol status) (consider symbol (if package (symbol-package symbol) home) status))
         home)))
    (values found left-out documented)))

(defun documented-line (symbol words)
  "A line about SYMBOL with what its documentation has around the first of WORDS in it."
  (destructuring-bind (text word &rest others) (documented-words words symbol)
    (declare (ignore others))
    (let* ((text (on-one-line text))
           (at (or (search word text :test #'char-equal) 0))
           (from (if (< at 60) 0 (1+ (or (position #\space text :end (- at 40) :from-end t) -1)))))
      (format nil "- ~A ~A: ~:[~;...~]~A" (spelling symbol) (kinds-text symbol) (plusp from)
              (clip (subseq text from) 120)))))

(defun best-first (found)
  (mapcar #'cdr (stable-sort (sort found #'string< :key (lambda (entry) (spelling (cdr entry))))
                             #'lexicographically< :key #'car)))

(defparameter *most-documented* 10
  "Symbols that are shown for their documentation beside others that are shown for their names.")

(defun apropos-title (words pattern count package externals-only)
  (cond (words (format nil "~D ~:*symbol~P match~1@*~[~;es~:;~] ~2@*~S~@[ in ~A~]" count count pattern
                       (and package (package-name package))))
        (externals-only (format nil "~D external symbol~:P of ~A" count (package-name package)))
        (t (format nil "~D symbol~:P of ~A" count (package-name package)))))

(defun apropos-search (pattern &key (session "default") package kind (limit 40) externals-only)
  "Answer (:TITLE :SECTIONS :NOTES :NAMES) about the symbols whose names contain every word of
PATTERN, in any case, and then those whose documentation does: at most LIMIT, the likeliest first,
of KIND if given, in PACKAGE or all packages."
  (with-look-up (session)
    (let* ((colon (position #\: pattern))
           (package (cond (package package)
                          ((and colon (plusp colon)) (subseq pattern 0 colon))))
           (words (split-words (string-left-trim ":" (if colon (subseq pattern colon) pattern))))
           (package (and package (named-package package session))))
      (multiple-value-bind (found left-out documented) (search-symbols words kind package externals-only)
        ;; in *foo* the asterisks may be wildcards
        (when (and (null found) (find #\* pattern))
          (setf words (mapcar (lambda (word) (remove #\* word)) words))
          (multiple-value-setq (found left-out documented)
            (search-symbols words kind package externals-only)))
        (let* ((count (length found))
               (symbols (first-few (best-first found) limit))
               (others (first-few (best-first documented)
                                  (if found (min *most-documented* (max 0 (- limit count))) limit))))
          (plist-without-nils
           :title (apropos-title words pattern count package externals-only)
           :names (mapcar #'qualified-spelling (append symbols others))
           :sections (append (and symbols
                                  (list (cons "" (mapcar (lambda (symbol) (brief-line symbol (spelling symbol)))
                                                         symbols))))
                             (and others
                                  (list (cons "By Documentation"
                                              (mapcar (lambda (symbol) (documented-line symbol words)) others)))))
           :notes (append (when (> count limit)
                            (list (format nil "The first ~D are shown; a longer pattern, a package, a kind or a higher limit shows others."
                                          limit)))
                          (when (count-beyond documented (length others))
                            (list (format nil "~D more by documentation." (count-beyond documented (length others)))))
                          (when (plusp left-out)
                            (list (format nil "~D internal symbol~:P of the implementation left out; a package shows them."
                                          left-out))))))))))

;;; Completing

(defun compound-match-p (typed name)
  "True if each part of TYPED between hyphens begins the corresponding part of NAME, as in m-v-b
for MULTIPLE-VALUE-BIND."
  (loop with at = 0
        for start = 0 then (1+ end)
        for end = (position #\- typed :start start)
        do (let* ((part (subseq typed start end))
                  (stop (+ at (length part))))
             (unless (and (<= stop (length name))
                          (string-equal part name :start2 at :end2 stop))
               (return nil))
             (if end
                 (let ((hyphen (position #\- name :start stop)))
                   (if hyphen (setf at (1+ hyphen)) (return nil)))
                 (return t)))))

(defun completion-rank (typed name)
  (cond ((and (<= (length typed) (length name)) (string-equal typed name :end2 (length typed))) 0)
        ((compound-match-p typed name) 1)))

(defun completion-spelling (prefix typed)
  "PREFIX, the spelling of a symbol, in the case of TYPED."
  (if (or (some #'upper-case-p typed) (find #\| prefix))
      prefix
      (string-downcase prefix)))

(defun completions (typed package scope session)
  "((RANKS . SYMBOL) ...) of the symbols of PACKAGE that complete TYPED.  SCOPE: :ACCESSIBLE,
:EXTERNAL or :PRESENT."
  (let ((found '()) (seen (make-hash-table :test 'eq)))
    (flet ((consider (symbol)
             (let ((rank (completion-rank typed (symbol-name symbol))))
               (when (and rank (not (gethash symbol seen))
                          (or (eq scope :external) (named-thing-p symbol)
                              (eq package (live-package session))))
                 (setf (gethash symbol seen) t)
                 (push (cons (list rank (if (named-thing-p symbol) 0 1) (home-rank symbol)
                                   (length (symbol-name symbol)))
                             symbol)
                       found)))))
      (if (eq scope :external)
          (do-external-symbols (symbol package) (consider symbol))
          (do-symbols (symbol package) (consider symbol))))
    found))

(defun matching-packages (typed)
  (sort (loop for package in (list-all-packages)
              for name = (find-if (lambda (name) (completion-rank typed name))
                                  (cons (package-name package) (package-nicknames package)))
              when (and name (string/= typed "") (not (implementation-package-p package)))
                collect name)
        #'string<))

(defun complete-symbol (typed &key (session "default") package (limit 30))
  "Answer (:TITLE :SECTIONS :NOTES :NAMES) about completions of TYPED: symbols accessible in
PACKAGE or the session's package; for p:foo the external ones of p, for p::foo all of p; and
packages."
  (with-look-up (session)
    (let* ((typed (string-trim " '" typed))
           (colon (position #\: typed))
           (double (and colon (eql (search "::" typed) colon)))
           (prefix (and colon (subseq typed 0 (+ colon (if double 2 1)))))
           (rest (if colon (subseq typed (length prefix)) typed))
           (package (cond ((null colon) (if package (named-package package session) (live-package session)))
                          ((zerop colon) (find-package '#:keyword))
                          (t (named-package (subseq typed 0 colon) session))))
           (found (completions (remove #\| rest) package
                               (cond ((null colon) :accessible) (double :present) (t :external))
                               session))
           (packages (and (null colon) (matching-packages typed)))
           (count (length found))
           (symbols (first-few (best-first found) limit))
           (spelled (loop for symbol in symbols
                          collect (completion-spelling (format nil "~@[~A~]~A" prefix
                                                               (bare-spelling (symbol-name symbol)))
                                                       typed)))
           (packages (loop for name in (first-few packages 10)
                           collect (completion-spelling (format nil "~A:" (bare-spelling name)) typed))))
      (plist-without-nils
       :title (format nil "~D completion~:P of ~S in ~A" count typed (package-name package))
       :names (append spelled packages)
       :sections (append (and symbols (list (cons "" (mapcar #'brief-line symbols spelled))))
                         (and packages (list (cons "Packages" (mapcar (lambda (name) (format nil "- ~A" name))
                                                                      packages)))))
       :notes (when (> count limit)
                (list (format nil "The first ~D are shown; type more of the name." limit)))))))
;;;; describe-symbol.lisp -- DESCRIBE-SYMBOL: of a symbol, or of a package as a guide to it

(cl:in-package #:swank-mcp)

(defun package-section (package)
  (let ((externals 0) (own 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq package (symbol-package symbol)) (incf own)))
    `("Package"
      ,(format nil "Name: ~A" (package-name package))
      ,@(names-line "Nicknames" (package-nicknames package))
      ,@(names-line "Uses" (mapcar #'package-name (package-use-list package)))
      ,@(names-line "Used by" (sort (mapcar #'package-name (package-used-by-list package)) #'string<))
      ,(format nil "External symbols: ~D" externals)
      ,(format nil "Symbols of its own: ~D" own)
      ,@(documentation-lines package t)
      ,@(site-lines (package-name package) :package))))

(defun package-guide (package)
  "Sections about PACKAGE: itself, its library, and what it exports."
  (let* ((file (package-source-file package))
         (directory (and file (library-directory file))))
    (cons (package-section package)
          (append (and directory
                       (library-sections directory (function-names (exported-symbols package))))
                  (export-sections package)))))

(defun describe-symbol (text &key (session "default") package)
  "Answer (:TITLE TEXT :SECTIONS ((TITLE LINE ...) ...) :WHOLE SECTIONS :STANDARD NAME) about the
symbol, the (SETF SYMBOL) or the package that TEXT names; :STANDARD for symbols of COMMON-LISP.
:WHOLE has everything where the sections are shortened."
  (with-look-up (session)
    (multiple-value-bind (name meant found-in) (name-or-package text session package)
      (page-answer
       (append (cond ((and meant (null found-in)) '())
                     ((symbolp name) (symbol-sections name session))
                     (t (remove nil (list (function-section name)))))
               (and meant (package-guide meant)))
       :title (cond ((and meant (null found-in)) (package-name meant))
                    ((symbolp name) (symbol-title name found-in))
                    (t (function-spelling name)))
       :standard (and found-in (standard-symbol-name name))))))
;;;; describe-system.lisp -- DESCRIBE-SYSTEM

(cl:in-package #:swank-mcp)

;;; ASDF has the facts of a system that it knows.  To find another one would evaluate its definition, so
;;; that file is scanned.

(defstruct (system-facts (:conc-name facts-) (:copier nil))
  "The facts about a system, from ASDF or from its file."
  name file version description author license
  depends-on                            ; names
  components                            ; paths, in the order of definition
  loadedp
  registeredp)                          ; true if ASDF has its definition

;;; From ASDF

(defun component-paths (component)
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-paths child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (not (asdf-value "COMPONENT-SYSTEM-P" component))
               (list (namestring path)))))))

(defun registered-facts (system name)
  (flet ((text (function) (let ((value (asdf-value function system)))
                            (and (stringp value) (string/= value "") value))))
    (make-system-facts
     :name name :registeredp t
     :file (let ((file (asdf-value "SYSTEM-SOURCE-FILE" system))) (and file (namestring file)))
     :version (text "COMPONENT-VERSION") :description (text "SYSTEM-DESCRIPTION")
     :author (text "SYSTEM-AUTHOR") :license (text "SYSTEM-LICENSE")
     :depends-on (remove nil (mapcar #'dependency-name (asdf-value "SYSTEM-DEPENDS-ON" system)))
     :components (loop for child in (asdf-value "COMPONENT-CHILDREN" system)
                       append (component-paths child))
     :loadedp (and (member name (asdf-value "ALREADY-LOADED-SYSTEMS") :test #'string-equal) t))))

;;; From the text of a definition

(defun option (options name)
  (loop for (key value) on options by #'cddr
        when (token-name= key name) return value))

(defun scanned-component-paths (components directory)
  "The files in the :COMPONENTS of a definition, as written, under DIRECTORY."
  (loop for component in components
        when (and (consp component) (token-p (first component)) (dependency-name (second component)))
          append (let* ((name (dependency-name (second component)))
                        (written (option (cddr component) "PATHNAME"))
                        (path (if (stringp written) written name))
                        (type (string-left-trim ":" (token-text (first component)))))
                   (cond ((string-equal type "MODULE")
                          (scanned-component-paths (option (cddr component) "COMPONENTS")
                                                   (if (string= path "")
                                                       directory
                                                       (format nil "~A~A/" directory (string-right-trim "/" path)))))
                         ((string-equal type "FILE")
                          (list (format nil "~A~A~:[.lisp~;~]" directory path (search ".lisp" path))))
                         (t (list (format nil "~A~A" directory path)))))))

(defun find-defsystem (text name)
  "(VALUES OPTIONS BEGIN END) of the form in TEXT that defines the system NAME, or NIL."
  (loop with at = 0
        do (multiple-value-bind (form begin end) (scan-datum text at)
             (cond ((and (null begin) (>= end (length text))) (return nil))
                   ((and (consp form) (token-name= (first form) "DEFSYSTEM")
                         (equal (dependency-name (second form)) name))
                    (return (values (cddr form) begin end))))
             (setf at (if begin end (1+ end))))))

(defun scanned-facts (file name)
  "The SYSTEM-FACTS in the definition of the system NAME in FILE."
  (let ((text (file-text file)))
    (multiple-value-bind (options begin) (and text (find-defsystem text name))
      (flet ((string-option (key)
               (let ((value (option options key))) (and (stringp value) value))))
        (make-system-facts
         :name name :file (namestring file)
         :version (string-option "VERSION") :description (string-option "DESCRIPTION")
         :author (string-option "AUTHOR") :license (or (string-option "LICENSE") (string-option "LICENCE"))
         :depends-on (let ((names (option options "DEPENDS-ON")))
                       (and (listp names) (remove nil (mapcar #'dependency-name names))))
         :components (let ((components (option options "COMPONENTS"))
                           (directory (string-option "PATHNAME")))
                       (and begin (listp components)
                            (scanned-component-paths
                             components
                             (format nil "~A~@[~A/~]"
                                     (directory-namestring file)
                                     (and directory (string-right-trim "/" directory)))))))))))

(defun system-file (name)
  "The file where ASDF would find the definition of the system NAME, without reading it."
  (or (given-definition name)
      (gethash (primary-name name) (registry))
      (let ((file (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" (primary-name name))))
        (and (pathnamep file) file))))

(defun system-name-in (text)
  "The name of a system that TEXT, as a person writes it, may be: without quotes, in lower case."
  (string-downcase (string-trim " \":#'" text)))

(defun system-facts (name)
  "The SYSTEM-FACTS of the system NAME, or NIL."
  (let ((system (asdf-value "REGISTERED-SYSTEM" name)))
    (if system
        (registered-facts system name)
        (let ((file (ignore-errors (probe-file (or (system-file name) (return-from system-facts nil))))))
          (and file (scanned-facts file name))))))

;;; The answer

(defun dependency-lines (name)
  "The tree of what the system NAME depends on; each system has its own dependencies once."
  (let ((seen (list name)) (lines '()) (count 0))
    (labels ((walk (names depth)
               (dolist (name names)
                 (when (< (incf count) 120)
                   (let* ((again (member name seen :test #'string=))
                          (facts (and (not again) (system-facts name))))
                     (push name seen)
                     (push (format nil "~A- ~A~@[ ~A~]~A" (make-string (* 2 depth) :initial-element #\space) name
                                   (and facts (facts-version facts))
                                   (cond (again (if facts "" ", see above"))
                                         ((null facts) ", not found")
                                         ((facts-loadedp facts) ", loaded")
                                         (t "")))
                           lines)
                     (when (and facts (< depth 8))
                       (walk (facts-depends-on facts) (1+ depth))))))))
      (walk (facts-depends-on (system-facts name)) 0))
    (when (> count 120) (push "- and more" lines))
    (reverse lines)))

(defun files-section (facts)
  (let ((files (mapcar (lambda (file) (format nil "- ~A" file)) (facts-components facts))))
    (and files (list (cons "Files" (mapcar #'list (clip-lines files 150)))))))

(defun related-facts (name)
  "The SYSTEM-FACTS of the system NAME and, if ASDF knows it, of those that it needs whose
definitions lie in its directory or below, except its tests."
  (let ((seen '()) (found '()) (directory nil))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (let* ((facts (system-facts name)) (file (and facts (facts-file facts))))
                   (when (and file
                              (or (null directory)
                                  (and (eql 0 (search directory file)) (not (names-tests-p name)))))
                     (unless directory (setf directory (directory-namestring file)))
                     (push facts found)
                     (mapc #'visit (direct-dependencies name)))))))
      (visit name))
    (reverse found)))

(defun packages-of-files (files)
  "The packages that FILES, namestrings, define and that export something, those that export most
first."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (file files)
      (let ((found (ignore-errors (truename file))))
        (when found (setf (gethash found table) t))))
    (sort (loop for package in (list-all-packages)
                for file = (package-source-file package)
                when (and file (gethash (ignore-errors (truename file)) table)
                          (exported-symbols package))
                  collect package)
          #'> :key (lambda (package) (length (exported-symbols package))))))

(defun system-library-sections (facts)
  "Sections about the library that the system FACTS is: from the image if it is loaded, or else
from its files."
  (let* ((directory (and (facts-file facts) (library-directory (pathname (facts-file facts)))))
         (files (loop for each in (related-facts (facts-name facts)) append (facts-components each)))
         (packages (packages-of-files files))
         (written (and (null packages) (written-entries files))))
    (append (and directory
                 (library-sections directory
                                   (if packages
                                       (function-names (mapcan #'exported-symbols packages))
                                       (written-function-names written))))
            (if packages
                (loop for package in packages append (export-sections package (rest packages)))
                (sections-by-kind written)))))

(defun system-sections (facts)
  `(("System"
     ,(format nil "Name: ~A" (facts-name facts))
     ,@(when (facts-version facts) (list (format nil "Version: ~A" (facts-version facts))))
     ,(format nil "Loaded: ~:[no~;yes~]" (facts-loadedp facts))
     ,@(when (facts-file facts) (list (format nil "Defined in: ~A" (facts-file facts))))
     ,@(when (facts-description facts)
         (list (format nil "Description: ~A" (clip (facts-description facts) 500))))
     ,@(when (facts-author facts) (list (format nil "Author: ~A" (clip (facts-author facts) 200))))
     ,@(when (facts-license facts) (list (format nil "License: ~A" (clip (facts-license facts) 100)))))
    ,@(system-library-sections facts)
    ,@(when (facts-depends-on facts)
        (list (cons "Depends On" (mapcar #'list (dependency-lines (facts-name facts))))))
    ,@(files-section facts)))

(defun system-files ()
  "((NAME . FILE) ...) of the systems that can be loaded, sorted; FILE may be NIL."
  (let ((names '()))
    (maphash (lambda (name file) (push (cons name (namestring file)) names)) *project-definitions*)
    (maphash (lambda (name file) (pushnew (cons name (namestring file)) names :test #'string= :key #'car))
             (registry))
    (dolist (name (asdf-value "REGISTERED-SYSTEMS"))
      (pushnew (list name) names :test #'string= :key #'car))
    (sort names #'string< :key #'car)))

(defun all-systems ()
  "A line for each system that can be loaded."
  (loop with loaded = (asdf-value "ALREADY-LOADED-SYSTEMS")
        for (name . file) in (system-files)
        collect (format nil "- ~A~:[~;, loaded~]~@[, ~A~]" name
                        (member name loaded :test #'string-equal)
                        file)))

(defun describe-system (name &key (session "default"))
  "Answer (:TITLE :SECTIONS :WHOLE :NOTES) about the system NAME; for \"\" about all that can be
loaded."
  (with-look-up (session)
    (need-asdf)
    (let* ((name (system-name-in name))
           ;; RESCAN-UNLESS-FOUND would evaluate the system's definition
           (facts (and (string/= name "")
                       (or (system-facts name)
                           (progn (rescan-registry) (system-facts name))))))
      (cond ((string= name "")
             (rescan-registry)
             (let ((lines (all-systems)))
               (plist-without-nils
                :title (format nil "~D system~:P can be loaded" (length lines))
                :names (mapcar #'first (system-files))
                :sections (and lines (list (cons "Systems" lines)))
                :notes (when (quicklisp-p)
                         '("Quicklisp can install others: (ql:system-apropos \"part of a name\") finds them.")))))
            (facts
             (page-answer
              (system-sections facts)
              :notes (unless (facts-registeredp facts)
                       '("Not loaded by ASDF yet: this is what the text of its definition says."))))
            (t (let ((near (near-systems name)))
                 (fail-lookup "SYSTEM-NOT-FOUND" near
                              "There is no system ~S that ASDF would find.~@[~%Near it: ~{~A~^, ~}.~]"
                              name near)))))))
;;;; describe.lisp -- what a symbol names, in sections
;;;;
;;;; The folder look/ answers questions about what is in the image: symbols, definitions and their
;;;; callers, systems, objects.  Each file has one or two functions that the bridge calls, except
;;;; views.lisp, which inspect.lisp uses.  It uses the folders before it.  Begin with this file.

(cl:in-package #:swank-mcp)

;;; An answer has sections of lines, ((TITLE LINE ...) ...).  Names in a symbol's lambda list, type
;;; and slots print as in its own package, values as in COMMON-LISP-USER.

(defparameter *max-names* 12 "Names in one line, of subclasses for one.")

(defun call-in-home-package (symbol function)
  "Call FUNCTION in the package of SYMBOL, so that its neighbours print without a prefix."
  (let ((*package* (or (symbol-package symbol) *package*)))
    (when (keywordp symbol) (setf *package* (user-package)))
    (funcall function)))

(defun names-line (label names)
  "\"LABEL: A, B, ... (5 more)\", in a list; empty without names."
  (when names
    (list (format nil "~A: ~{~A~^, ~}~@[ and ~D more~]" label
                  (first-few names *max-names*) (count-beyond names *max-names*)))))

(defun documentation-lines (object kind)
  (let ((text (safely (documentation object kind))))
    (when (and (stringp text) (string/= text ""))
      (list (format nil "Documentation: ~A" (clip text 3000))))))

(defun site-lines (name &rest kinds)
  (loop for site in (loop for kind in kinds append (definition-sites name kind))
        when (site-origin site)
          collect (format nil "Defined in: ~A" (site-line-text site))))

;;; Functions

#+sbcl
(defun function-type-text (name)
  (safely (call-in-home-package (if (symbolp name) name (second name))
                                (lambda () (clip (prin1-to-string (sb-introspect:function-type name)) 500)))))

#+sbcl
(defun method-texts (function)
  (loop for method in (sb-mop:generic-function-methods function)
        collect (format nil "- ~{~A ~}(~{~A~^ ~})"
                        (mapcar #'bounded-text (method-qualifiers method))
                        (mapcar #'specializer-text (sb-mop:method-specializers method)))))

(defun specializer-text (specializer)
  #+sbcl (if (typep specializer 'class)
             (let ((name (class-name specializer)))
               (if (and name (symbolp name)) (spelling name) (bounded-text specializer 100)))
             (format nil "(EQL ~A)" (bounded-text (sb-mop:eql-specializer-object specializer) 100)))
  #-sbcl (bounded-text specializer 100))

(defun method-lines (function)
  (let ((texts (method-texts function)))
    (when texts
      (cons (format nil "Methods (~D):" (length texts)) (clip-lines texts *max-names*)))))

(defun call-text (name)
  "A call of NAME with its lambda list."
  (let ((lambda-list (lambda-list-text name)) (spelled (function-spelling name)))
    (cond ((or (string= lambda-list "") (char/= #\( (char lambda-list 0)))
           (format nil "~A ~A" spelled lambda-list))
          ((string= lambda-list "()") (format nil "(~A)" spelled))
          (t (format nil "(~A ~A" spelled (subseq lambda-list 1))))))

(defun function-remarks (name)
  (append (when (and (symbolp name) (compiler-macro-function name))
            '("It has a compiler macro."))
          #+sbcl
          (when (and (symbolp name) (eq 'inline (sbcl:info :function :inlinep name)))
            '("Declared INLINE."))
          #+sbcl
          (when (ignore-errors (member name (sbcl:%list-traced-funs) :test #'equal))
            '("Traced."))))

(defun function-section (name)
  (cond ((and (symbolp name) (special-operator-p name))
         `("Special Operator" ,(call-text name) ,@(documentation-lines name 'function)))
        ((and (symbolp name) (macro-function name))
         `("Macro" ,(call-text name)
                   ,@(documentation-lines name 'function) ,@(site-lines name :macro)
                   ,@(function-remarks name)))
        ((not (fboundp name)) nil)
        ((typep (fdefinition name) 'generic-function)
         `("Generic Function" ,(call-text name)
                              ,@(method-lines (fdefinition name))
                              ,@(documentation-lines name 'function)
                              ,@(site-lines name :generic-function)))
        (t
         `("Function" ,(call-text name)
                      ,@(let ((type (function-type-text name)))
                          (and type (list (format nil "Type: ~A" type))))
                      ,@(documentation-lines name 'function) ,@(site-lines name :function)
                      ,@(function-remarks name)))))

(defun setf-section (symbol)
  "The section for (SETF SYMBOL), or NIL."
  (let ((name (list 'setf symbol)))
    (cond ((fboundp name) (list* "Setf Function" (rest (function-section name))))
          ((surely-defined-p :setf-expander symbol)
           `("Setf Expander" ,@(documentation-lines symbol 'setf)
                             ,@(site-lines symbol :setf-expander))))))

;;; Variables

(defun global-value (symbol session)
  "(VALUES VALUE BOUNDP) of SYMBOL for code of SESSION at top level."
  (cond ((eq symbol '*package*) (values (live-package session) t))
        ((member symbol *session-variables*) (values (session-variable session symbol) t))
        #+sbcl ((not (ignore-errors (sb-ext:symbol-global-value symbol) t)) (values nil nil))
        #-sbcl ((not (boundp symbol)) (values nil nil))
        (t (values #+sbcl (sb-ext:symbol-global-value symbol) #-sbcl (symbol-value symbol) t))))

(defun variable-kind (symbol)
  #+sbcl (sbcl:info :variable :kind symbol)
  #-sbcl (cond ((constantp symbol) :constant) ((boundp symbol) :special)))

(defun value-lines (symbol session)
  (multiple-value-bind (value boundp) (global-value symbol session)
    (list (if boundp
              (format nil "Value: ~A" (bounded-text value))
              "Unbound."))))

#+sbcl
(defun declared-type-lines (symbol)
  (let ((type (ignore-errors (sbcl:type-specifier (sbcl:info :variable :type symbol)))))
    (when (and type (not (eq type t)))
      (list (format nil "Declared type: ~A" (call-in-home-package symbol (lambda () (bounded-text type))))))))

(defun variable-section (symbol session)
  (let ((kind (variable-kind symbol)))
    (flet ((section (title kind)
             `(,title ,@(value-lines symbol session) ,@(declared-type-lines symbol)
                      ,@(documentation-lines symbol 'variable) ,@(site-lines symbol kind))))
      (cond ((keywordp symbol) nil)
            ((eq kind :constant) (section "Constant" :constant))
            ((eq kind :macro)
             `("Symbol Macro" ,(format nil "Expansion: ~A"
                                       (call-in-home-package
                                        symbol (lambda () (bounded-text (macroexpand-1 symbol)))))
                              ,@(documentation-lines symbol 'variable)
                              ,@(site-lines symbol :symbol-macro)))
            ((eq kind :special) (section "Special Variable" :variable))
            ((or (eq kind :global) (nth-value 1 (global-value symbol session)))
             (section "Global Variable" :variable))))))

;;; Classes and types

(defun class-names (classes)
  (sort (loop for class in classes
              for name = (class-name class)
              when (and name (symbolp name) (symbol-package name)) collect (spelling name))
        #'string<))

#+sbcl
(defun slot-line (slot from)
  "A line for the direct SLOT; FROM is the class from which it is inherited, or NIL."
  (flet ((list-of (label items)
           (when items (list (format nil "~A ~{~A~^ ~}" label items)))))
    (let ((type (sb-mop:slot-definition-type slot))
          (documentation (and (typep slot 'standard-object)
                              (not (typep slot 'sbcl:structure-direct-slot-definition))
                              (safely (documentation slot t)))))
      (format nil "- ~A~@[ (from ~A)~]~:[~;: ~:*~{~A~^, ~}~]"
              (bare-spelling (symbol-name (sb-mop:slot-definition-name slot)))
              (and from (spelling (class-name from)))
              (append
               (list-of "initarg" (mapcar #'bounded-text (sb-mop:slot-definition-initargs slot)))
               (list-of "reader" (mapcar #'bounded-text (sb-mop:slot-definition-readers slot)))
               (list-of "writer" (mapcar #'bounded-text (sb-mop:slot-definition-writers slot)))
               (unless (eq type t) (list-of "type" (list (bounded-text type 100))))
               (when (sb-mop:slot-definition-initfunction slot)
                 (list-of "initform" (list (bounded-text (sb-mop:slot-definition-initform slot) 200))))
               (unless (eq :instance (sb-mop:slot-definition-allocation slot))
                 (list-of "allocation" (list (bounded-text (sb-mop:slot-definition-allocation slot)))))
               (when (and (stringp documentation) (string/= documentation ""))
                 (list (clip documentation 200))))))))

#+sbcl
(defun ancestry (class)
  "CLASS and its superclasses, also if it is not finalized."
  (if (sb-mop:class-finalized-p class)
      (sb-mop:class-precedence-list class)
      (cons class (remove-duplicates
                   (loop for super in (sb-mop:class-direct-superclasses class)
                         append (ancestry super))))))

#+sbcl
(defun slot-lines (class)
  "Lines for the slots of CLASS, then for those that it inherits and does not redefine."
  (let ((seen '()) (lines '()))
    (dolist (super (ancestry class))
      (unless (member (class-name super) '(t standard-object structure-object condition
                                           sbcl:slot-object))
        (dolist (slot (sb-mop:class-direct-slots super))
          (unless (member (sb-mop:slot-definition-name slot) seen)
            (push (sb-mop:slot-definition-name slot) seen)
            (push (slot-line slot (if (eq super class) nil super)) lines)))))
    (when lines
      (cons (format nil "Slots (~D):" (length lines))
            (append (first-few (reverse lines) 60)
                    (when (> (length lines) 60) (list "- and more")))))))

(defun class-kind (class)
  (typecase class
    (structure-class :structure)
    (built-in-class :built-in)
    (t (if (subtypep (class-name class) 'condition) :condition :class))))

(defun class-section (symbol)
  (let ((class (find-class symbol nil)))
    (when class
      (call-in-home-package symbol
                            (lambda ()
                              (let ((kind (class-kind class)))
                                `(,(ecase kind
                                     (:structure "Structure") (:built-in "Built-In Class")
                                     (:condition "Condition") (:class "Class"))
                                  #+sbcl
                                  ,@(append
                                     (names-line "Superclasses" (class-names (sb-mop:class-direct-superclasses class)))
                                     (names-line "Subclasses" (class-names (sb-mop:class-direct-subclasses class)))
                                     (when (sb-mop:class-finalized-p class)
                                       (names-line "Precedence list"
                                                   (loop for super in (sb-mop:class-precedence-list class)
                                                         for name = (class-name super)
                                                         unless (eq name 'sbcl:slot-object)
                                                           collect (spelling name))))
                                     (unless (eq kind :built-in) (slot-lines class)))
                                  ,@(unless (member (class-name (class-of class))
                                                    '(standard-class structure-class built-in-class
                                                      #+sbcl sbcl:condition-class))
                                      (list (format nil "Metaclass: ~A" (spelling (class-name (class-of class))))))
                                  ,@(documentation-lines symbol 'type)
                                  ,@(if (eq kind :built-in)
                                        '()
                                        (site-lines symbol (if (eq kind :class) :class kind))))))))))

(defun type-section (symbol)
  (when (and (surely-defined-p :type symbol) (not (find-class symbol nil)))
    `("Type"
      #+sbcl
      ,@(let ((lambda-list (call-in-home-package symbol
                                                 (lambda ()
                                                   (safely (prin1-to-string
                                                            (sb-introspect:deftype-lambda-list symbol)))))))
          (unless (string= lambda-list "NIL") (list (format nil "Parameters: ~A" lambda-list))))
      ,@(documentation-lines symbol 'type) ,@(site-lines symbol :type))))

;;; All of it

(defun symbol-sections (symbol session)
  (remove nil (list (function-section symbol) (setf-section symbol)
                    (variable-section symbol session)
                    (class-section symbol) (type-section symbol)
                    (loss-section symbol session))))

(defun loss-section (symbol session)
  "The section about definitions of SYMBOL by the session that a new image would not have."
  (let ((lines (loop for (key . entry) in (own-entries session)
                     when (and (entry-why entry) (eq symbol (key-symbol key)))
                       collect (format nil "The ~(~A~) has no source: ~A." (car key) (entry-why entry)))))
    (and lines `("Lost If The Image Dies" ,@lines))))

(defun symbol-title (symbol package)
  (let ((home (symbol-package symbol)))
    (if (null home)
        (format nil "~A, without a home package" (spelling symbol))
        (format nil "~A, ~(~A~) symbol of ~A~@[, imported into ~A~]" (spelling symbol)
                (nth-value 1 (find-symbol (symbol-name symbol) home))
                (package-name home)
                (and package
                     (not (eq package home))
                     (not (eq :inherited (nth-value 1 (find-symbol (symbol-name symbol) package))))
                     (package-name package))))))

(defun standard-symbol-name (symbol)
  (and (eq (symbol-package symbol) (find-package '#:common-lisp)) (symbol-name symbol)))

(defun package-meant (text session)
  "The package that TEXT, a name without prefix, names; or NIL."
  (multiple-value-bind (name prefix colons) (parse-name text :upcase)
    (declare (ignore prefix))
    (and (zerop colons)
         (let ((*package* (live-package session)))
           (find-package-named name)))))

(defun name-or-package (text session package)
  "(VALUES NAME MEANT FOUND-IN): the symbol or (SETF SYMBOL) that TEXT names, the package that TEXT
names, also with colons behind it, and the package in which NAME was found.  Without NAME or MEANT
they are NIL."
  (let* ((text (if (find #\\ text) text (string-right-trim ":" text)))
         (meant (and (null (setf-place-name text)) (package-meant text session))))
    (multiple-value-bind (name found-in)
        (if meant
            (handler-case (find-function-name text session package)
              (lookup-failure () nil))
            (find-function-name text session package))
      (values name meant found-in))))
;;;; exports.lisp -- what packages export, by kind, and pages that have room for all of it

(cl:in-package #:swank-mcp)

;;; A section is (TITLE . LINES).  A line is a string; or (STRING NAME) where a page that is too
;;; long may have the bare NAME instead, or (STRING) where it may leave the line out.

(defun sentence-end-p (text at)
  "True if the period at AT in TEXT ends a sentence, unlike those of \"i.e. this\"."
  (or (= (1+ at) (length text))
      (and (blankp (char text (1+ at)))
           (let ((next (position-if-not #'blankp text :start (1+ at))))
             (or (null next) (not (lower-case-p (char text next))))))))

(defun first-sentence (text)
  "The first sentence of TEXT on one line."
  (let* ((text (string-trim '(#\space #\newline #\tab #\return) text))
         (end (loop for at = (position #\. text) then (position #\. text :start (1+ at))
                    while at
                    when (sentence-end-p text at) return (1+ at)))
         (paragraph (search (format nil "~%~%") text)))
    (clip (on-one-line (subseq text 0 (if (and end paragraph) (min end paragraph) (or end paragraph)))) 120)))

(defun remark-on (symbol kind)
  "\": First sentence.\" of the documentation of SYMBOL as a KIND, or an empty string."
  (let ((text (safely (documentation symbol kind))))
    (if (and (stringp text) (string/= "" (string-trim " " text)))
        (format nil ": ~A" (first-sentence text))
        "")))

#+sbcl
(defun initargs-text (class)
  "The initargs of CLASS, which need not be finalized, in parentheses; or an empty string."
  (let ((initargs (remove-duplicates
                   (loop for super in (ancestry class)
                         append (loop for slot in (sb-mop:class-direct-slots super)
                                      append (sb-mop:slot-definition-initargs slot))))))
    (if initargs (format nil " (~{~A~^ ~})" (mapcar #'bounded-text (first-few initargs 12))) "")))

(defun export-entries (symbol)
  "((TITLE . LINE) ...) of what SYMBOL names, each under the title of its kind."
  (let ((name (bare-spelling (symbol-name symbol))) (kinds (symbol-kinds symbol)))
    (flet ((entry (title arguments kind)
             (cons title (list (format nil "- ~A~A~A" name arguments (remark-on symbol kind)) name))))
      (let ((lambda-list (if (intersection kinds '(:macro :generic-function :function))
                             (format nil " ~A" (clip (lambda-list-text symbol) 100))
                             "")))
        (or (loop for kind in kinds
                  collect (ecase kind
                            (:special-operator (entry "Special Operators" "" 'function))
                            (:macro (entry "Macros" lambda-list 'function))
                            (:generic-function (entry "Generic Functions" lambda-list 'function))
                            (:function (entry "Functions" lambda-list 'function))
                            (:constant (entry "Constants" "" 'variable))
                            (:variable (entry "Variables" "" 'variable))
                            (:type (entry "Types" "" 'type))
                            (:class
                             (let ((class (find-class symbol)))
                               (ecase (class-kind class)
                                 ((:class :built-in) (entry "Classes" #+sbcl (initargs-text class) #-sbcl "" 'type))
                                 (:structure (entry "Structures" "" 'type))
                                 (:condition (entry "Conditions" #+sbcl (initargs-text class) #-sbcl "" 'type)))))))
            (list (cons "Other Names" (list (format nil "- ~A" name) name))))))))

(defparameter *export-titles*
  '("Macros" "Functions" "Generic Functions" "Classes" "Structures" "Conditions" "Variables"
    "Constants" "Types" "Special Operators" "Other Names"))

(defun exported-symbols (package)
  "The external symbols of PACKAGE, sorted, without those that it only passes on from COMMON-LISP."
  (let ((symbols '()) (standard (find-package '#:common-lisp)))
    (do-external-symbols (symbol package)
      (when (or (eq package standard) (not (eq standard (symbol-package symbol))))
        (push symbol symbols)))
    (sort symbols #'string< :key #'symbol-name)))

(defun function-names (symbols)
  (loop for symbol in symbols when (fboundp symbol) collect (symbol-name symbol)))

(defun sections-by-kind (entries &optional of)
  "Sections of ENTRIES, ((TITLE . LINE) ...); the titles name OF, if that is given."
  (loop for title in *export-titles*
        for lines = (loop for (kind . line) in entries when (equal kind title) collect line)
        when lines
          collect (cons (format nil "~A~@[ of ~A~]~@[ (~D)~]" title of
                                (and (nthcdr 5 lines) (length lines)))
                        lines)))

(defun export-sections (package &optional qualifiedp)
  "Sections about what PACKAGE exports; with QUALIFIEDP the titles name it."
  (sections-by-kind (loop for symbol in (exported-symbols package) append (export-entries symbol))
                    (and qualifiedp (package-name package))))

;;; Pages

(defparameter *page* 6000 "Characters of a page.")

(defun shortened (lines count)
  "The first COUNT of LINES, and the names of the others."
  (let* ((rest (nthcdr (min count (length lines)) lines))
         (names (loop for line in rest when (and (consp line) (second line)) collect (second line))))
    (append (mapcar (lambda (line) (if (consp line) (first line) line)) (first-few lines count))
            (cond ((null rest) '())
                  (names (list (format nil "~:[~;- and ~]~{~A~^, ~}" (plusp count) names)))
                  (t (list (format nil "- and ~D more" (length rest))))))))

(defun with-at-most (count sections)
  "SECTIONS as strings; of lines that may be shortened at most COUNT in each."
  (loop for (title . lines) in sections
        collect (cons title (shortened lines (if (some #'consp lines) count (length lines))))))

(defun page-length (sections)
  (loop for (title . lines) in sections
        sum (+ 4 (length title) (loop for line in lines sum (1+ (length line))))))

(defun page-answer (sections &rest more)
  "The answer of a look-up with SECTIONS on a page, and MORE: as :SECTIONS with lines shortened
until they fit, and then as :WHOLE with all lines."
  (let ((whole (with-at-most most-positive-fixnum sections)))
    (loop for count in '(1000000 80 40 25 15 10 7 5 4 3 2 1 0)
          for page = (with-at-most count sections)
          when (or (<= (page-length page) *page*) (zerop count))
            return (append (apply #'plist-without-nils more)
                           (plist-without-nils
                            :sections (fitted page sections)
                            :whole (and (/= (page-length page) (page-length whole)) whole))))))

(defun fitted (page sections)
  "PAGE, its lines of names cut alike where even names are too many; it was made from SECTIONS."
  (let ((share (floor *page* (max 1 (length sections)))))
    (if (<= (page-length page) *page*)
        page
        (loop for (title . lines) in page
              for section in sections
              collect (cons title (if (some #'consp (rest section))
                                      (mapcar (lambda (line) (clip line share)) lines)
                                      lines))))))
;;;; inspect.lisp -- INSPECT-FORM, INSPECT-HANDLE: objects, part by part

(cl:in-package #:swank-mcp)

;;; Handles.  An inspected object has a number.  The newest *HELD* of these objects are kept alive;
;;; older ones live as long as the program itself keeps them.

(defparameter *held* 8)
(defparameter *max-handles* 200)

(defstruct (handle (:copier nil))
  number pointer
  object                    ; the object itself, as long as it is held
  session                   ; at whose reset it is forgotten
  connection                ; of the bridge, at whose end the object is released
  code)                     ; what was evaluated to get it

(defvar *handles* '() "Newest first.")
(defvar *last-handle* 0)

(defun weak-pointer-to (object)
  #+sbcl (sb-ext:make-weak-pointer object) #-sbcl (lambda () object))
(defun pointer-target (pointer)
  "(VALUES OBJECT T), or NIL and NIL if it was garbage."
  #+sbcl (sb-ext:weak-pointer-value pointer) #-sbcl (values (funcall pointer) t))

(defun remember-object (object session code)
  "A new handle's number."
  (let ((pointer (weak-pointer-to object)))
    (with-lock ()
      (push (make-handle :number (incf *last-handle*) :pointer pointer :object object
                         :session session :connection (own-connection)
                         :code (clip code 300))
            *handles*)
      (let ((released (nth *held* *handles*)))
        (when released (setf (handle-object released) nil)))
      (setf *handles* (first-few *handles* *max-handles*))
      *last-handle*)))

(defun forget-handles (session)
  (with-lock ()
    (setf *handles* (remove session *handles* :key #'handle-session))))

(defun release-handles-of (connection)
  "Release the objects that are held for the bridge behind CONNECTION."
  (with-lock ()
    (dolist (handle *handles*)
      (when (eq connection (handle-connection handle))
        (setf (handle-object handle) nil
              (handle-connection handle) nil)))))

(defun handle-text (number) (format nil "obj-~D" number))

(defun designated-handle (designator)
  "7 of 7, \"7\" or \"obj-7\"; NIL of anything else."
  (etypecase designator
    (integer designator)
    (string (let* ((text (string-trim " \"" designator))
                   (digits (if (eql 0 (search "obj-" (string-downcase text))) (subseq text 4) text)))
              (and (plusp (length digits))
                   (every #'digit-char-p digits)
                   (< (length digits) 10)
                   (parse-integer digits))))))

(defun handle-object-or-fail (designator)
  (let* ((number (designated-handle designator))
         (handle (with-lock () (find number *handles* :key #'handle-number))))
    (unless handle
      (fail-lookup "UNKNOWN-HANDLE" '()
                   "There is no handle ~A~@[; the newest is ~A~]. Handles look like obj-1 and last until the ~
                    ~Dth after them, a reset of the session, or the end of the image."
                   (if number (handle-text number) (prin1-to-string (clip designator 60)))
                   (let ((newest (first *handles*)))
                     (and newest (handle-text (handle-number newest))))
                   *max-handles*))
    (multiple-value-bind (object alive) (pointer-target (handle-pointer handle))
      (unless alive
        (fail-lookup "STALE-HANDLE" (list (handle-code handle))
                     "The object of ~A was garbage: the program does not keep it, and ~D others or more were inspected since, or the connection was lost."
                     (handle-text number) *held*))
      object)))

;;; Paths: 2, 0.name, 3k, with a dot between the steps

(defun path-steps (path)
  (let ((text (string-trim '(#\space #\.) path)))
    (loop with start = 0
          while (< start (length text))
          collect (let ((dot (or (position #\. text :start start) (length text))))
                    (prog1 (subseq text start dot) (setf start (1+ dot)))))))

(defparameter *most-labels* 5000 "How many parts are searched for a label.")

(defun find-part (object step trail)
  "The part of OBJECT that STEP names: an index, an index with k, or a label.  TRAIL has the steps
to OBJECT."
  (let* ((view (object-view object))
         (count (view-count view))
         (index (and (string/= step "")   ; "a..b"
                     (digit-char-p (char step 0))
                     (parse-integer step :junk-allowed t)))
         (keyp (and index (char-equal #\k (char step (1- (length step))))))
         (plain (and index (= (length step) (+ (if keyp 1 0) (length (format nil "~D" index)))))))
    (or (and plain (< index count)
             (let ((part (first (funcall (view-range view) index (1+ index)))))
               (cond ((null part) nil)
                     ((not keyp) part)
                     ((part-key part) (make-part "key" (first (part-key part)))))))
        (find-if (lambda (part)
                   (and (part-label part) (string-equal step (string-trim "\":|" (part-label part)))))
                 (funcall (view-range view) 0 (min count *most-labels*)))
        (fail-lookup "NO-SUCH-PART" '()
                     "~:[It~;Its part ~:*~A~] has no part ~S: ~A." (trail-text trail) step
                     (cond ((zerop count) "it has no parts")
                           (t (format nil "~D part~:P, 0 to ~D~@[, such as ~{~A~^, ~}~]" count (1- count)
                                      (remove nil (mapcar #'part-label
                                                          (funcall (view-range view) 0 (min count 8)))))))))))

(defun trail-text (trail)
  (and trail (format nil "~{~A~^.~}" (reverse trail))))

(defun walk-path (object path)
  "(VALUES PART-VALUE PART) at the end of PATH from OBJECT."
  (let ((part nil) (trail '()))
    (dolist (step (path-steps path) (values object part))
      (setf part (find-part object step trail))
      (push step trail)
      (unless (part-boundp part)
        (fail-lookup "UNBOUND-PART" '() "The part ~A has no value: ~A." (trail-text trail) (part-why part)))
      (setf object (part-value part)))))

(defun object (handle &optional (path ""))
  "For the user's code: the object of HANDLE (7 or \"obj-7\"), or its part at PATH.  SETF changes
the part."
  (values (walk-path (handle-object-or-fail handle) path)))

(defun (setf object) (value handle &optional (path ""))
  (let* ((steps (path-steps path))
         (whole (walk-path (handle-object-or-fail handle) (format nil "~{~A~^.~}" (butlast steps))))
         (part (if steps
                   (find-part whole (first (last steps)) (reverse (butlast steps)))
                   (error "Give a path to the part that is to be changed."))))
    (funcall (or (part-setter part) (error "The part ~A cannot be changed." path)) value)
    value))

;;; The text

(defun kind-label (object)
  "The name of OBJECT's class; for an internal class of the implementation, of its nearest standard
superclass."
  (let ((name (class-name (class-of object))))
    (if (and (symbolp name)
             (implementation-package-p (symbol-package name)))
        (name-label (or (find-if #'standard-name-p
                                 (mapcar #'class-name (class-ancestry (class-of object))))
                        name))
        (name-of-type object))))

(defun part-line (part index)
  (format nil "~D~@[ ~A~]: ~A" index (part-label part)
          (if (part-boundp part) (brief (part-value part)) (part-why part))))

(defun inspection (object handle path offset limit)
  "A plist (:TITLE :SECTIONS :NOTES) about OBJECT, which is at PATH from the object of HANDLE."
  (let* ((view (object-view object))
         (count (view-count view))
         (from (min offset count))
         (to (min count (+ from limit))))
    (list :title (format nil "~A~@[, part ~A~]: ~A, ~A" (handle-text handle) (and (path-steps path) path)
                         (kind-label object) (brief object))
          :sections (append (when (view-facts view)
                              (list (cons "facts" (loop for (name . text) in (view-facts view)
                                                        collect (format nil "~A: ~A" name text)))))
                            (when (> to from)
                              (list (cons (if (= count (- to from))
                                              "parts"
                                              (format nil "parts ~D to ~D of ~:D" from (1- to) count))
                                          (loop for part in (funcall (view-range view) from to)
                                                for index from from
                                                collect (part-line part index)))))
                            (when (view-text view) (list (list "text" (view-text view)))))
          :notes (append (view-notes view)
                         (when (< to count) (list (format nil "More: offset ~D" to)))))))

(defun refusing-failures (evaluation function)
  "Call FUNCTION; a LOOKUP-FAILURE ends EVALUATION with a report that has :NAMES."
  (handler-case (funcall function)
    (lookup-failure (failure)
      (report-with evaluation (lambda () (list :names (failure-names failure))))
      (refuse (failure-type failure) (failure-message failure)))))

(defun inspect-form (code &key (session "default") (token 0) package (path "") (offset 0) (limit 40))
  "Evaluate the form in CODE and inspect the part at PATH of its first value.  The answer is
EVALUATE's; its :REPORT is that of INSPECTION."
  (call-as-work
   (lambda (evaluation read)
     (let* ((values (multiple-value-list (evaluate-form (funcall read code))))
            (object (first values))
            (handle (remember-object object (evaluation-session evaluation) code))
            (found (refusing-failures
                    evaluation
                    (lambda ()
                      (inspection (walk-path object path) handle path offset limit)))))
       (when (rest values)
         (push (format nil "The form has ~D values; this is the first." (length values))
               (getf found :notes)))
       (report-with evaluation (lambda () found))
       '()))
   :code code :session session :token token :package package))

(defun inspect-handle (handle path &key (session "default") (offset 0) (limit 40))
  "Answer INSPECTION of the part at PATH of the object of HANDLE."
  (with-look-up (session)
    (let* ((object (walk-path (handle-object-or-fail handle) path))
           (*package* (live-package session)))
      (inspection object (designated-handle handle) path offset limit))))
;;;; library.lisp -- what a library's own files tell a newcomer: its README, calls in its tests

(cl:in-package #:swank-mcp)

;;; Files below a directory

(defparameter *most-entries* 2000 "Entries of directories that are looked at for one library.")

(defun entries-in (directory)
  "The files and directories in DIRECTORY; links to directories are not followed."
  (ignore-errors
   (directory (merge-pathnames (make-pathname :name :wild :type :wild :version nil) directory)
              #+sbcl :resolve-symlinks #+sbcl nil)))

(defun directory-pathname-p (path)
  (null (or (pathname-name path) (pathname-type path))))

(defun last-folder (directory)
  (let ((name (first (last (pathname-directory directory)))))
    (if (stringp name) name "")))

(defun words-between (text separators)
  "The parts of TEXT between characters of SEPARATORS."
  (loop with start = 0
        for end = (position-if (lambda (char) (find char separators)) text :start start)
        collect (subseq text start end)
        while end
        do (setf start (1+ end))))

(defun names-tests-p (name)
  "True of the name of a file or folder that has tests: t, tests, foo-test, test_utils."
  (or (string-equal name "t")
      (intersection '("test" "tests" "spec" "specs") (words-between name "-_.") :test #'string-equal)))

(defun library-directory (file)
  "The uppermost directory that has definitions of systems, of that of FILE and three above it; or
NIL."
  (loop with found = nil
        for up from 0 to 3
        for folders = (butlast (pathname-directory file) up)
        while (rest folders)
        do (let ((directory (make-pathname :name nil :type nil :version nil :directory folders :defaults file)))
             (when (find "asd" (entries-in directory) :key #'pathname-type :test #'equal)
               (setf found directory)))
        finally (return found)))

(defun test-files (directory)
  "The files with tests below DIRECTORY, those nearer to it first.  In folders of tests these are
also files without a type, which may have forms that the tests read."
  (let ((left *most-entries*) (found '()))
    (loop for depth from 0 to 3
          for level = (list (cons directory nil)) then next
          for next = '()
          do (loop for (folder . testsp) in level
                   for entries = (sort (entries-in folder) #'string< :key #'namestring)
                   while (plusp (decf left (length entries)))
                   do (dolist (entry entries)
                        (if (directory-pathname-p entry)
                            (unless (starts-with "." (last-folder entry))
                              (push (cons entry (or testsp (names-tests-p (last-folder entry)))) next))
                            (when (or (and testsp (null (pathname-type entry)))
                                      (and (equal (pathname-type entry) "lisp")
                                           (or testsp (names-tests-p (pathname-name entry)))))
                              (push entry found)))))
             (setf next (reverse next)))
    (reverse found)))

;;; README

(defun readme-directories (directory)
  "DIRECTORY, and where Debian has the documentation of a library with this source."
  (let ((name (last-folder directory)))
    (cons directory
          (when (eql 0 (search "/usr/share/common-lisp/source/" (namestring directory)))
            (loop for package in (list name (format nil "cl-~A" name))
                  collect (pathname (format nil "/usr/share/doc/~A/" package)))))))

(defun readme-file (directory)
  "The README of the library in DIRECTORY, of several the one that is easiest to read; or NIL."
  (flet ((rank (file)
           (or (position (pathname-type file) '("md" "markdown" "org" "txt" nil "rst") :test #'equalp) 9)))
    (loop for place in (readme-directories directory)
          for found = (remove-if-not (lambda (file)
                                       (and (pathname-name file) (starts-with "readme" (pathname-name file))))
                                     (entries-in place))
          when found return (first (sort found #'< :key #'rank)))))

(defun markup-line-p (line)
  "True of a line that is a title, a rule, a picture, a link or the like, and says nothing."
  (let ((line (string-trim '(#\space #\tab #\return) line)))
    (or (notany #'alpha-char-p line)
        (find (char line 0) "#<=|:")
        (some (lambda (mark) (eql 0 (search mark line))) '("![" "[![" ".. " "```" "~~~" ";;" "-*-")))))

(defun paragraphs (text)
  "Lists of the lines of TEXT between empty lines, without markup.  A line that is underlined is
markup, too."
  (let ((paragraphs '()) (lines '()))
    (flet ((end () (when lines (push (reverse (shiftf lines '())) paragraphs))))
      (with-input-from-string (in text)
        (loop for line = (read-line in nil)
              while line
              do (let ((bare (string-trim '(#\space #\tab #\return) line)))
                   (cond ((string= bare "") (end))
                         ((and lines (every (lambda (char) (find char "=-~^*")) bare)) (pop lines))
                         ((markup-line-p bare))
                         (t (push bare lines))))))
      (end))
    (reverse paragraphs)))

(defun readme-lines (directory)
  "The path of the README of the library in DIRECTORY and its first paragraph, with the list that
it may announce; or NIL."
  (let ((file (readme-file directory)))
    (when file
      (let* ((text (and (not (equalp (pathname-type file) "gz")) (file-text file)))
             (from (and text
                        (member-if (lambda (lines) (> (length (format nil "~{~A ~}" lines)) 40))
                                   (paragraphs (subseq text 0 (min (length text) 20000))))))
             (last (and from (first (last (first from)))))
             (lines (if (and last (char= #\: (char last (1- (length last)))))
                        (append (first from) (second from))
                        (first from))))
        (list* (namestring file)
               (and lines (list (clip (format nil "~{~A~^~%~}" lines) 600))))))))

;;; Calls in the tests

(defparameter *most-test-text* 300000 "Characters of a library's tests that are searched for calls.")

(defstruct (example (:copier nil)) file line text names)

(defun child-spans (text begin end)
  "((DATUM BEGIN . END) ...) of what is in the list between those positions of TEXT."
  (loop with at = (1+ begin)
        for (datum from to) = (multiple-value-list (scan-datum text at))
        while (and from (<= to end))
        collect (list* datum from to)
        do (setf at to)))

(defun called-name (datum names)
  "The string among the keys of NAMES that the token DATUM names, whatever its package; or NIL."
  (and (token-p datum)
       (let* ((text (token-text datum))
              (name (string-upcase (subseq text (let ((colon (position #\: text :from-end t)))
                                                  (if colon (1+ colon) 0))))))
         (and (nth-value 1 (gethash name names)) name))))

(defun shows-a-call-p (text begin end head)
  "True if the form between those positions of TEXT, a list that begins with HEAD, is short and
does not itself define something other than a test."
  (and (<= 12 (- end begin) 200)
       (<= (count #\newline text :start begin :end end) 5)
       (token-p head)
       (notany (lambda (operator) (token-name= head operator))
               '("DEFUN" "DEFMACRO" "DEFMETHOD" "DEFGENERIC" "DEFVAR" "DEFPARAMETER" "DEFCONSTANT"
                 "DEFCLASS" "DEFSTRUCT" "DEFTYPE" "DEFPACKAGE" "DEFSYSTEM" "IN-PACKAGE"))))

(defun calls-within (text begin end names found callp)
  "The names among the keys of NAMES that the form between those positions of TEXT calls; each
call is counted in NAMES.  FOUND is called with the begin and end of each outermost form that can
be shown, and the names that it calls.  Unless CALLP, the form is only part of a list of forms."
  (let* ((children (child-spans text begin end))
         (head (first (first children)))
         (name (and callp (called-name head names)))
         (called (and name (list name)))
         (inside '()))
    (when name (incf (gethash name names)))
    (loop for (datum from . to) in children
          when (and (consp datum) (char= #\( (char text from)))
            do (dolist (name (calls-within text from to names
                                           (lambda (&rest form) (push form inside))
                                           (token-p head)))
                 (pushnew name called :test #'string=)))
    (if (and callp called (shows-a-call-p text begin end head))
        (funcall found begin end called)
        (loop for form in (reverse inside) do (apply found form)))
    called))

(defun outdented (text begin end)
  "The form between those positions of TEXT, its later lines moved to the left as much as its first."
  (let ((column (1- (nth-value 1 (line-and-column text begin)))))
    (with-output-to-string (out)
      (with-input-from-string (in (subseq text begin end))
        (loop for line = (read-line in nil)
              for firstp = t then nil
              while line
              do (unless firstp (terpri out))
                 (write-string (if firstp
                                   line
                                   (subseq line (or (position #\space line :test #'char/= :end (min column (length line)))
                                                    (min column (length line)))))
                               out))))))

(defun examples (files names)
  "EXAMPLEs, in the order of FILES, of calls of the functions called NAMES; and the names in the
order of how often they are called."
  (let ((counts (make-hash-table :test 'equal)) (left *most-test-text*) (found '()))
    (dolist (name names) (setf (gethash name counts) 0))
    (dolist (file files)
      (let ((text (and (plusp left) (file-text file))))
        (when (and text
                   (or (pathname-type file) (starts-with ";" text))
                   (plusp (decf left (length text))))
          (loop for at = 0 then (if begin end (1+ end))
                for (nil begin end) = (multiple-value-list (scan-datum text at))
                until (and (null begin) (>= end (length text)))
                when (and begin (char= #\( (char text begin)))
                  do (calls-within text begin end counts
                                   (lambda (begin end names)
                                     (push (make-example :file file :line (line-and-column text begin)
                                                         :text (outdented text begin end) :names names)
                                           found))
                                   t)))))
    (values (reverse found)
            (let ((called '()))
              (maphash (lambda (name count) (when (plusp count) (push (cons count name) called))) counts)
              (mapcar #'cdr (sort (sort called #'string< :key #'cdr) #'> :key #'car))))))

(defparameter *checking*
  '("=" "EQ" "EQL" "EQUAL" "EQUALP" "STRING=" "ASSERT" "IS" "OK" "CHECK" "TRUE" "FALSE" "EXPECT"
    "SHOULD" "TEST" "DEFTEST")
  "Words in the operators of forms that show what a call returns.")

(defun example-rank (example)
  "Forms that show what comes of the call first, then those that do more than call, short ones
before long ones."
  (let* ((text (example-text example))
         (head (subseq text 1 (or (position-if #'blankp text) (length text)))))
    (list (cond ((intersection *checking* (words-between head "-:!?") :test #'string-equal) 0)
                ((find head (example-names example) :test #'string-equal) 2)
                (t 1))
          (length text))))

(defun chosen-examples (files names count)
  "At most COUNT EXAMPLEs: for each of the names that are called most the shortest one, if there
is one that also shows what comes of the call."
  (multiple-value-bind (examples called) (examples files names)
    (let ((chosen '()) (shown '()))
      (dolist (name called)
        (when (= (length chosen) count) (return))
        (unless (member name shown :test #'string=)
          (let ((fitting (remove-if-not (lambda (example) (member name (example-names example) :test #'string=))
                                        examples)))
            (when fitting
              (let ((example (first (stable-sort fitting #'lexicographically< :key #'example-rank))))
                (push example chosen)
                (setf shown (append (example-names example) shown)))))))
      (remove-if-not (lambda (example) (member example chosen)) examples))))

(defun example-lines (directory names)
  "Lines with calls of functions called NAMES in the tests of the library in DIRECTORY."
  (let ((file nil))
    (loop for example in (chosen-examples (test-files directory) names 6)
          unless (equal file (example-file example))
            collect (format nil "; ~A" (setf file (example-file example)))
          collect (example-text example))))

(defun library-sections (directory names)
  "Sections about the library in DIRECTORY, whose functions are called NAMES."
  (let ((readme (readme-lines directory)) (examples (and names (example-lines directory names))))
    (append (and readme (list (cons "README" readme)))
            (and examples (list (cons "Calls In Its Tests" examples))))))
;;;; sources.lisp -- the source of what a session has defined, to be written into files

(cl:in-package #:swank-mcp)

;;; The bridge finds the form in the file and writes it.  It reads nothing: it takes texts apart by
;;; their parentheses.  So it asks what only the image knows: which evaluation has made a
;;; definition, in which package, and whether a text means the same in another package.

(defun definition-plist (key)
  "(VALUES PLIST FILE) of SBCL's record of the place of the definition KEY.  FILE is the one that it
was loaded from, or NIL if that is gone, as that of COMPILE-SOURCE is."
  #+sbcl
  (destructuring-bind (kind . name) key
    (let* ((source (ignore-errors
                    (if (eq kind :method)
                        (sb-introspect:find-definition-source (find-defined-method name))
                        (first (definition-sources name kind)))))
           (file (and source (sb-introspect:definition-source-pathname source))))
      (values (and source (sb-introspect:definition-source-plist source))
              (and file (ignore-errors (probe-file (translate-logical-pathname file)))))))
  #-sbcl (progn key (values nil nil)))

(defun kept-in-file-p (key) (nth-value 1 (definition-plist key)))

(defun source-of-key (session key)
  "(VALUES TEXT PACKAGE-NAME WHY): the source of the top level form whose evaluation by SESSION has
made the definition KEY, and the package in which it was read; or NIL, NIL and why that is not
known."
  (let* ((plist (definition-plist key))
         (text (getf plist :swank-mcp-source)) (package (getf plist :swank-mcp-package)))
    (cond ((not (and (stringp text) (stringp package)))
           (values nil nil
                   (or (why-lost session key)
                       #+sbcl (format nil "its source is not kept; that of a form with more than ~:D characters is not"
                                      *max-source-text*)
                       #-sbcl "this Lisp keeps no source with what it defines")))
          ((or (readtable-changed-p session)
               (/= 10 (session-variable session '*read-base*))
               (not (eq 'single-float (session-variable session '*read-default-float-format*))))
           (values nil nil "this session reads code otherwise than a file is read: its readtable, *READ-BASE* or *READ-DEFAULT-FLOAT-FORMAT* was changed"))
          (t (values text package nil)))))

(defun key-names (key)
  "(VALUES SETFP QUALIFIERS SPECIALIZERS) of KEY, the lists as the names of symbols."
  (flet ((text (object)
           (cond ((symbolp object) (symbol-name object))
                 (t (with-standard-io-syntax
                      (let ((*print-readably* nil)) (prin1-to-string object)))))))
    (destructuring-bind (kind . name) key
      (if (eq kind :method)
          (values (consp (first name)) (mapcar #'text (second name)) (mapcar #'text (third name)))
          (values (consp name) '() '())))))

(defun file-key (key)
  "KEY as the records of files have it."
  (if (eq (car key) :method)
      (method-key (find-defined-method (cdr key)))
      (namespace-of key)))

(defun accessible-in (symbol)
  "The names and nicknames of the packages in which the name of SYMBOL means SYMBOL."
  (loop for package in (list-all-packages)
        when (multiple-value-bind (found status) (find-symbol (symbol-name symbol) package)
               (and status (eq found symbol)))
          append (cons (package-name package) (package-nicknames package))))

(defun session-keys (session name)
  "The keys of what SESSION has defined as NAME, a symbol or (SETF SYMBOL), and not in a file."
  (let* ((symbol (function-symbol name))
         (keys (loop for (key) in (own-entries session)
                     when (and (eq symbol (key-symbol key))
                               (or (symbolp name) (key-names key)))
                       collect key))
         (variable (cons :variable symbol)))
    ;; a DEFVAR that found a value has defined nothing, but says how the variable is defined
    (when (and (symbolp name)
               (notany (lambda (key) (eq :variable (car (namespace-of key)))) keys)
               (equal (session-name session) (getf (definition-plist variable) :swank-mcp)))
      (push variable keys))
    (remove-if #'kept-in-file-p keys)))

(defun loaded-source (key)
  "(VALUES TEXT FILE) of the form or forms that the definition KEY was loaded from, or NIL."
  (let ((origin (loaded-definition (file-key key))))
    (or-values
     (and origin (values (origin-text origin) (origin-file origin)))
     (loaded-form (file-key key)) ; a person's image had another definition of it
     (loaded-calls (string (key-symbol key))))))

(defun source-for-wire (session key)
  (multiple-value-bind (text package why) (source-of-key session key)
    (multiple-value-bind (setfp qualifiers specializers) (key-names key)
      (multiple-value-bind (loaded file) (loaded-source key)
        (plist-without-nils
         :kind (string-downcase (car key)) :label (key-label key)
         :setf setfp :qualifiers qualifiers :specializers specializers
         :text text :package package :why why
         :file file :loaded loaded)))))

(defun session-sources (text &key (session "default") package)
  "Answer about what SESSION has defined as the name that TEXT names:
  (:NAME NAME :PACKAGES NAMES :FEATURES NAMES
   :DEFINITIONS ((:KIND KIND :LABEL TEXT :SETF BOOLEAN :QUALIFIERS TEXTS :SPECIALIZERS TEXTS
                  :TEXT SOURCE :PACKAGE NAME :WHY TEXT :FILE FILE :LOADED SOURCE) ...)
   :PLACES LINES)
PACKAGES are those in which NAME means the symbol.  WHY is there instead of TEXT.  FILE had the
definition when it was loaded, in the top level form LOADED, or made by one of the
calls in it.  PLACES are where the name is defined,
if the session has not defined it."
  (with-look-up (session)
    (ignore-errors (adopt-loaded-files))
    (let* ((name (find-function-name text session package))
           (symbol (function-symbol name))
           (keys (session-keys session name)))
      (plist-without-nils
       :name (symbol-name symbol)
       :packages (accessible-in symbol)
       :features (loop for feature in *features*
                       when (symbolp feature) collect (symbol-name feature))
       :definitions (loop for key in keys collect (source-for-wire session key))
       :places (and (null keys)
                    (loop for (title place) in (definition-sections name)
                          collect (format nil "~A: ~A" title place)))))))

(defun definition-written (text file labels &key (session "default") package)
  "FILE, a native name, has now those of LABELS, ((LABEL) ...), that SESSION has defined as the name that TEXT
names: they count as loaded from there."
  (with-look-up (session)
    (let ((keys (loop for key in (session-keys session (find-function-name text session package))
                      when (member (key-label key) labels :key #'first :test #'string=)
                        collect (file-key key)))
          (version (file-version file)))
      (when version
        (note-written file version keys))
      (list :noted (and version t)))))

(defun symbol-token-p (text)
  "True of a token that is no number, dot or character."
  (not (or (string= text "")
           (string= text ".")
           (find (char text 0) "#0123456789")
           (and (> (length text) 1)
                (find (char text 0) "+-.")
                (digit-char-p (char text 1))))))

(defun symbol-meant (token package)
  "What the token TOKEN means in PACKAGE, in a list; NIL if it is not there."
  (multiple-value-bind (name prefix) (parse-name token :upcase)
    (let ((home (if prefix
                    (let ((*package* package)) (find-package-named prefix)) ; its local nicknames
                    package)))
      (multiple-value-bind (symbol status) (and home (find-symbol name home))
        (and status (list symbol))))))

(defun unlike-tokens (text one other)
  "The symbols in TEXT, as written, that the packages ONE and OTHER do not read as the same."
  (let ((unlike '()))
    (labels ((same-p (token)
               (handler-case (let ((meant (symbol-meant token one)))
                               (and meant (equal meant (symbol-meant token other))))
                 (lookup-failure () t))) ; no symbol
             (walk (datum)
               (cond ((consp datum) (mapc #'walk datum))
                     ((and (token-p datum)
                           (symbol-token-p (token-text datum))
                           (not (same-p (token-text datum))))
                      (pushnew (token-text datum) unlike :test #'string-equal)))))
      (loop with at = 0
            do (multiple-value-bind (datum begin end) (scan-datum text at)
                 (when (null begin) (return (nreverse unlike)))
                 (walk datum)
                 (setf at end))))))

(defun read-unlike (text one other &key (session "default"))
  "Answer (:NAMES TOKENS): at most five symbols in TEXT that the packages called ONE and OTHER do not
read as the same; or (:MISSING NAME) if there is no package of that name."
  (with-look-up (session)
    (let ((missing (find-if-not #'find-package (list one other))))
      (if missing
          (list :missing missing)
          (plist-without-nils
           :names (first-few (unlike-tokens text (find-package one) (find-package other)) 5))))))
;;;; views.lisp -- the facts and parts of objects of each kind

(cl:in-package #:swank-mcp)

(defstruct (part (:constructor make-part (label value &key (boundp t) (why "unbound") key setter))
                 (:copier nil))
  label value boundp
  why                       ; why there is no value, in words
  (key nil)                 ; NIL or (KEY) of an entry of a hash table
  setter)                   ; function of a new value, or NIL

(defstruct (view (:copier nil))
  (facts '())               ; ((NAME . TEXT) ...)
  (count 0)                 ; of parts
  (range (constantly '()))  ; function of two positions: the parts between them
  text                      ; of a string
  (notes '()))

(defun view-of-parts (parts &key facts notes)
  (make-view :facts facts :notes notes :count (length parts)
             :range (lambda (start end) (subseq parts start end))))

(defun list-shape (list)
  "(VALUES LENGTH END): the number of conses, and the CDR of the last; :CIRCULAR if there is none."
  (let ((slow list) (fast list) (count 0))
    (loop (unless (consp fast) (return (values count fast)))
          (unless (consp (cdr fast)) (return (values (1+ count) (cdr fast))))
          (setf fast (cddr fast) slow (cdr slow))
          (incf count 2)
          (when (eq slow fast)          ; SLOW is as far into the circle as LIST is before it
            (return (values (+ (loop for from-start = list then (cdr from-start)
                                     until (eq from-start slow)
                                     count t
                                     do (setf slow (cdr slow)))
                               (loop for rest = (cdr slow) then (cdr rest)
                                     count t
                                     until (eq rest slow)))
                            :circular))))))

(defgeneric object-view (object)
  (:documentation "The view of OBJECT: facts and parts.")
  (:method (object)
    (let ((slots (ignore-errors (instance-slots object))))
      (view-of-parts slots))))

#+sbcl
(defun instance-slots (object)
  (loop for slot in (sb-mop:class-slots (class-of object))
        collect (slot-part object (sb-mop:slot-definition-name slot))))

(defun slot-part (object name)
  "The slot NAME of OBJECT as a part.  Methods of its metaclass may be called, and may fail."
  (flet ((part (value &rest more)
           (apply #'make-part (symbol-name name) value
                  :setter (lambda (value) (setf (slot-value object name) value))
                  more)))
    (handler-case (if (slot-boundp object name)
                      (part (slot-value object name))
                      (part nil :boundp nil))
      (serious-condition (condition)
        (part nil :boundp nil
                  :why (format nil "reading it failed: ~A: ~A" (type-label condition)
                               (clip (first-line (condition-text condition)) 100)))))))

(defmethod object-view ((list cons))
  (multiple-value-bind (count end) (list-shape list)
    (let ((tailed (and end (not (eq end :circular)))))
      (make-view
       :facts (list (cons "Length" (format nil "~:D~@[ ~A~]" count
                                           (cond ((eq end :circular) "and circular")
                                                 (tailed "and a tail that is no list")))))
       :count (if tailed (1+ count) count)
       :range (lambda (from to)
                (append (loop for i from from below (min to count)
                              for rest on (nthcdr from list)
                              collect (let ((rest rest))
                                        (make-part nil (car rest)
                                                   :setter (lambda (value) (setf (car rest) value)))))
                        (when (and tailed (> to count))
                          (list (make-part "tail" end
                                           :setter (lambda (value) (setf (cdr (last list)) value)))))))))))

(defmethod object-view ((array array))
  (make-view
   :facts (append (list (cons "Dimensions" (format nil "~{~D~^ by ~}" (array-dimensions array)))
                        (cons "Element type" (brief (array-element-type array))))
                  (when (array-has-fill-pointer-p array)
                    (list (cons "Fill pointer" (format nil "~D" (fill-pointer array)))))
                  (when (adjustable-array-p array) (list (cons "Adjustable" "yes")))
                  (when (array-displacement array)
                    (list (cons "Displaced to" (brief (array-displacement array))))))
   :count (array-total-size array)
   :range (lambda (from to)
            (loop for i from from below to
                  collect (let ((i i))
                            (make-part (and (/= 1 (array-rank array)) (subscripts-text array i))
                                       (row-major-aref array i)
                                       :setter (lambda (value) (setf (row-major-aref array i) value))))))))

(defun subscripts-text (array index)
  (let ((subscripts '()))
    (dolist (dimension (reverse (array-dimensions array)) (format nil "[~{~D~^,~}]" subscripts))
      (multiple-value-bind (rest subscript) (floor index dimension)
        (push subscript subscripts)
        (setf index rest)))))

(defmethod object-view ((string string))
  (make-view :facts (list (cons "Length" (format nil "~:D" (length string)))
                          (cons "Type" (brief (type-of string))))
             :text (subseq string 0 (min 4000 (length string)))
             :notes (when (> (length string) 4000) '("The first 4,000 characters are shown."))))

(defmethod object-view ((table hash-table))
  (make-view
   :facts (append (list (cons "Test" (brief (hash-table-test table)))
                        (cons "Count" (format nil "~:D" (hash-table-count table))))
                  #+sbcl
                  (when (sb-ext:hash-table-weakness table)
                    (list (cons "Weakness" (brief (sb-ext:hash-table-weakness table)))))
                  #+sbcl
                  (when (sb-ext:hash-table-synchronized-p table) (list (cons "Synchronized" "yes"))))
   :count (hash-table-count table)
   :range (lambda (from to)
            (let ((i -1) (found '()))
              (block walk
                (maphash (lambda (key value)
                           (when (>= (incf i) to) (return-from walk))
                           (when (>= i from)
                             (push (make-part (brief key) value :key (list key)
                                              :setter (lambda (value) (setf (gethash key table) value)))
                                   found)))
                         table))
              (nreverse found)))))

(defmethod object-view ((symbol symbol))
  (view-of-parts
   (append (when (boundp symbol)
             (list (make-part "value" (symbol-value symbol)
                              :setter (unless (constantp symbol)
                                        (lambda (value) (setf (symbol-value symbol) value))))))
           (cond ((macro-function symbol) (list (make-part "macro" (macro-function symbol))))
                 ((special-operator-p symbol) '())
                 ((fboundp symbol) (list (make-part "function" (fdefinition symbol)))))
           (when (fboundp `(setf ,symbol))
             (list (make-part "setf" (fdefinition `(setf ,symbol)))))
           (when (find-class symbol nil) (list (make-part "class" (find-class symbol))))
           (when (symbol-package symbol) (list (make-part "package" (symbol-package symbol))))
           (when (symbol-plist symbol) (list (make-part "plist" (symbol-plist symbol)))))
   :facts (list (cons "Name" (brief (symbol-name symbol))))))

(defmethod object-view ((function function))
  #+sbcl
  (view-of-parts
   (append (when (typep function 'sb-mop:funcallable-standard-object)
             (ignore-errors (instance-slots function)))
           (when (sbcl:closurep function)
             (mapcar (lambda (value) (make-part "closed over" (closed-over-value value)))
                     (sbcl:%closure-values function))))
   :facts (list (cons "Name" (brief (sbcl:%fun-name function)))
                (cons "Lambda list" (brief (swank/backend:arglist function)))
                (cons "Type" (brief (sbcl:%simple-fun-type (sbcl:%fun-fun function))))))
  #-sbcl (make-view))

#+sbcl
(defun closed-over-value (value)
  "The value of a closed-over variable.  One that is assigned is in a value cell."
  (if (sb-sys:with-pinned-objects (value) (eql (sbcl:widetag-of value) sbcl:value-cell-widetag))
      (sbcl:value-cell-ref value)
      value))

(defmethod object-view ((generic generic-function))
  #+sbcl
  (view-of-parts
   (list (make-part "methods" (sb-mop:generic-function-methods generic))
         (make-part "method combination" (sb-mop:generic-function-method-combination generic))
         (make-part "method class" (sb-mop:generic-function-method-class generic)))
   :facts (list (cons "Name" (brief (sb-mop:generic-function-name generic)))
                (cons "Lambda list" (brief (sb-mop:generic-function-lambda-list generic)))))
  #-sbcl (make-view))

(defmethod object-view ((class class))
  #+sbcl
  (view-of-parts
   (append (list (make-part "direct superclasses" (sb-mop:class-direct-superclasses class))
                 (make-part "direct subclasses" (sb-mop:class-direct-subclasses class))
                 (make-part "direct slots" (sb-mop:class-direct-slots class))
                 (make-part "direct methods" (sb-mop:specializer-direct-methods class)))
           (when (sb-mop:class-finalized-p class)
             (list (make-part "precedence list" (sb-mop:class-precedence-list class))
                   (make-part "slots" (sb-mop:class-slots class)))))
   :facts (list (cons "Name" (brief (class-name class)))
                (cons "Metaclass" (brief (class-name (class-of class))))
                (cons "Finalized" (if (sb-mop:class-finalized-p class) "yes" "no"))))
  #-sbcl (make-view))

(defmethod object-view ((package package))
  (let ((externals 0) (present 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq (symbol-package symbol) package) (incf present)))
    (view-of-parts
     (list (make-part "uses" (package-use-list package))
           (make-part "used by" (package-used-by-list package))
           (make-part "shadowing" (package-shadowing-symbols package)))
     :facts (list (cons "Name" (package-name package))
                  (cons "Nicknames" (format nil "~{~A~^, ~}" (package-nicknames package)))
                  (cons "Symbols" (format nil "~:D of its own, ~:D external" present externals))))))

(defmethod object-view ((integer integer))
  (make-view :facts (append (list (cons "Bits" (format nil "~:D" (integer-length integer))))
                            (when (< (integer-length integer) 300)
                              (list (cons "Hexadecimal" (format nil "~X" integer))
                                    (cons "Binary" (format nil "~B" integer))))
                            (when (< -1 integer char-code-limit)
                              (list (cons "Character" (brief (code-char integer))))))))

(defmethod object-view ((ratio ratio))
  (view-of-parts (list (make-part "numerator" (numerator ratio))
                       (make-part "denominator" (denominator ratio)))
                 :facts (list (cons "Float" (brief (ignore-errors (float ratio 1d0)))))))

(defmethod object-view ((float float))
  (make-view :facts (ignore-errors
                     (multiple-value-bind (significand exponent sign) (integer-decode-float float)
                       (list (cons "Exactly" (format nil "~:[~;-~]~D * 2^~D" (minusp sign) significand exponent))
                             (cons "Rational" (brief (rational float))))))))

(defmethod object-view ((complex complex))
  (view-of-parts (list (make-part "realpart" (realpart complex))
                       (make-part "imagpart" (imagpart complex)))))

(defmethod object-view ((character character))
  (make-view :facts (list (cons "Code" (format nil "~D, #x~:*~X" (char-code character)))
                          (cons "Name" (or (char-name character) "none")))))

(defmethod object-view ((pathname pathname))
  (view-of-parts (list (make-part "host" (pathname-host pathname))
                       (make-part "device" (pathname-device pathname))
                       (make-part "directory" (pathname-directory pathname))
                       (make-part "name" (pathname-name pathname))
                       (make-part "type" (pathname-type pathname))
                       (make-part "version" (pathname-version pathname)))))
;;;; written.lisp -- what the files of a system that is not loaded export, by their text

(cl:in-package #:swank-mcp)

(defparameter *most-written-text* 1000000 "Characters of a system's files that are searched.")

(defun written-name (datum)
  "The string that DATUM, scanned, is as the name of a symbol: \"A\" of a, #:a, :a, \"A\"; or NIL."
  (cond ((stringp datum) datum)
        ((and (token-p datum) (not (member (token-text datum) '("#." ".") :test #'string=)))
         (let ((text (string-left-trim "#:" (token-text datum))))
           (string-upcase (subseq text (let ((colon (position #\: text :from-end t)))
                                         (if colon (1+ colon) 0))))))))

(defun documentation-option (options)
  (loop for option in options
        when (and (consp option) (token-name= (first option) "DOCUMENTATION"))
          return (second option)))

(defparameter *written-kinds*
  ;; operator, title, what stands third, where the documentation is
  '(("DEFUN" "Functions" :lambda-list :fourth) ("DEFMACRO" "Macros" :lambda-list :fourth)
    ("DEFGENERIC" "Generic Functions" :lambda-list :option) ("DEFCLASS" "Classes" nil :option)
    ("DEFINE-CONDITION" "Conditions" nil :option) ("DEFSTRUCT" "Structures" nil :third)
    ("DEFVAR" "Variables" nil :fourth) ("DEFPARAMETER" "Variables" nil :fourth)
    ("DEFCONSTANT" "Constants" nil :fourth) ("DEFTYPE" "Types" nil :fourth)))

(defun written-definition (text form begin end)
  "(NAME TITLE ARGUMENTS REMARK) if FORM, between those positions of TEXT, is a definition; or NIL."
  (let ((kind (find-if (lambda (kind) (token-name= (first form) (first kind))) *written-kinds*)))
    (when (and kind (rest form))
      (destructuring-bind (title third place) (rest kind)
        (let ((name (written-name (if (consp (second form)) (first (second form)) (second form))))
              (documentation (ecase place
                               (:third (third form))
                               ;; a string that is all the body is the value
                               (:fourth (and (or (null third) (nthcdr 4 form)) (fourth form)))
                               (:option (documentation-option (cdddr form))))))
          (when name
            (list name title
                  (if third
                      (destructuring-bind (&optional from . to) (rest (third (child-spans text begin end)))
                        (if from (format nil " ~A" (clip (on-one-line (subseq text from to)) 100)) ""))
                      "")
                  (if (and (stringp documentation) (string/= documentation ""))
                      (format nil ": ~A" (first-sentence documentation))
                      ""))))))))

(defun written-exports (form)
  "The names that FORM exports, if it defines a package."
  (when (or (token-name= (first form) "DEFPACKAGE") (token-name= (first form) "DEFINE-PACKAGE"))
    (loop for option in (cddr form)
          when (and (consp option) (token-name= (first option) "EXPORT"))
            append (remove nil (mapcar #'written-name (rest option))))))

(defun map-written-forms (function text begin end)
  "Call FUNCTION with each form of TEXT between those positions, its begin and its end; for PROGN,
LET and the like with the forms in it."
  (loop with at = begin
        for (form from to) = (multiple-value-list (scan-datum text at))
        while (< (if from from to) end)
        do (cond ((not (consp form)))
                 ((some (lambda (operator) (token-name= (first form) operator))
                        '("PROGN" "EVAL-WHEN" "LOCALLY" "LET" "LET*"))
                  (map-written-forms function text (1+ from) (1- to)))
                 (t (funcall function form from to)))
           (setf at (if from to (1+ to)))))

(defun written-entries (files)
  "((TITLE . LINE) ...) of what the packages that FILES define export, by the text of FILES."
  (let ((exported '()) (definitions (make-hash-table :test 'equal)) (left *most-written-text*))
    (dolist (file files)
      (let ((text (and (plusp left) (file-text file))))
        (when (and text (plusp (decf left (length text))))
          (map-written-forms
           (lambda (form begin end)
             (setf exported (append exported (written-exports form)))
             (let ((definition (written-definition text form begin end)))
               (when definition
                 (push (rest definition) (gethash (first definition) definitions)))))
           text 0 (length text)))))
    (loop for name in (sort (remove-duplicates exported :test #'string=) #'string<)
          append (loop with spelled = (bare-spelling name)
                       for (title arguments remark) in (or (reverse (gethash name definitions))
                                                           '(("Other Names" "" "")))
                       collect (list title (format nil "- ~A~A~A" spelled arguments remark) spelled)))))

(defun written-function-names (entries)
  (loop for (title nil name) in entries
        when (member title '("Functions" "Macros" "Generic Functions") :test #'string=)
          collect (string-trim "|" name)))
;;;; xref.lisp -- FIND-DEFINITION and CROSS-REFERENCE

(cl:in-package #:swank-mcp)

;;; FIND-DEFINITION

(defparameter *max-definitions* 30 "Definitions of one name that are shown.")
(defparameter *max-definition-text* 8000 "Characters of one definition's source.")

#+sbcl
(defun source-description (source)
  "\" :AROUND (SHAPE T)\" for the source of a method, else an empty string."
  (let ((description (ignore-errors (sbcl:definition-source-description source))))
    (if (and (consp description) (notevery #'consp description))
        (let ((qualifiers (remove-if-not #'keywordp description))
              (specializers (remove-if #'keywordp description)))
          (format nil "~{ ~A~} (~{~A~^ ~})"
                  (mapcar #'bounded-text qualifiers)
                  (mapcar (lambda (name) (if (symbolp name) (spelling name) (bounded-text name 60)))
                          specializers)))
        "")))

#+sbcl
(defun definition-sections (name)
  "((TITLE LINE ...) ...) about the definitions of NAME, with their source."
  (loop for (kind . title) in *definition-kinds*
        append (loop for source in (definition-sources name kind)
                     for site = (source-site source (name-string name))
                     when (site-origin site)
                     collect `(,(format nil "~A ~A~A" title
                                        (if (stringp name) name (function-spelling name))
                                        (if (eq kind :method) (source-description source) ""))
                               ,(format nil "Defined in: ~A" (site-line-text site))
                               ,@(when (site-text site)
                                   (list (clip (string-right-trim '(#\space #\newline) (site-text site))
                                               *max-definition-text*)))))))

(defun system-definition-sections (name searchp)
  "The section about where the system NAME is defined, which ASDF or the project knows, or with
SEARCHP ASDF would find; in a list, or NIL."
  (let* ((file (and (string/= name "")
                    (find-package '#:asdf)
                    (or (definition-file name)
                        (given-definition name)
                        (and searchp (system-file name)))))
         (file (and file (ignore-errors (probe-file file)))))
    (when file
      (let ((text (or (file-text file) "")))
        (flet ((section (name)
                 (multiple-value-bind (options begin end) (find-defsystem text name)
                   (declare (ignore options))
                   (when begin
                     `((,(format nil "System ~A" name)
                        ,(format nil "Defined in: ~A, line ~D" (namestring file) (line-and-column text begin))
                        ,(clip (subseq text begin end) *max-definition-text*)))))))
          (or (section name)
              ;; one that ASDF infers from a file has no form of its own
              (and (asdf-value "REGISTERED-SYSTEM" name) (section (primary-name name)))
              (and (or (asdf-value "REGISTERED-SYSTEM" name) (string= name (primary-name name)))
                   `((,(format nil "System ~A" name) ,(format nil "Defined in: ~A" (namestring file)))))))))))

(defun find-definition (text &key (session "default") package)
  "Answer (:TITLE :SECTIONS :NOTES) about where the symbol, (SETF SYMBOL), package or system that
TEXT names is defined, with the source text if it is known."
  (with-look-up (session)
    (flet ((system (searchp)
             (and (null package)
                  (null (setf-place-name text))
                  (system-definition-sections (system-name-in text) searchp))))
      (multiple-value-bind (name meant found-in)
          (handler-case (name-or-package text session package)
            (lookup-failure (failure)
              (if (system t) nil (error failure))))
        (let* ((name (if (or found-in (null meant) (consp name)) name nil))
               (known (or meant found-in (consp name)))
               (sections (append (and name (definition-sections name))
                                 (and name (symbolp name) (definition-sections (list 'setf name)))
                                 (and meant (definition-sections (package-name meant)))
                                 (system (not known)))))
          (plist-without-nils
           :title (when (and known (null sections))
                    (format nil "~A: no definition with a known place"
                            (if name (function-spelling name) (package-name meant))))
           :sections (first-few sections *max-definitions*)
           :notes (when (> (length sections) *max-definitions*)
                    (list (format nil "~D more definitions of this name." (- (length sections) *max-definitions*))))))))))

;;; CROSS-REFERENCE

(defparameter *reference-kinds*
  '(("calls" . "Calls") ("called-by" . "Called By") ("references" . "Referenced By")
    ("binds" . "Bound By") ("sets" . "Set By") ("macroexpands" . "Expanded By")
    ("specializes" . "Specialized By")))

(defun shown-name (name)
  "The name of a function or method, in a line."
  (let ((name (public-name name)))
    (cond ((symbolp name) (spelling name))
          ((and (consp name) (eq (first name) 'setf)) (function-spelling name))
          (t (bounded-text name 120)))))

(defun source-name (name)
  "The string by which a file has the definition of NAME, which may be of a method or of a function
in a function."
  (cond ((symbolp name) (symbol-name name))
        ((stringp name) name)
        ((not (consp name)) "")
        ((eq (first name) 'setf) (source-name (second name)))
        ((member :in name) (source-name (second (member :in name))))
        ((consp (rest name)) (source-name (second name)))
        (t "")))

(defun owning-symbol (name)
  "A symbol whose package identifies the owner of the code NAME."
  (cond ((symbolp name) name)
        ((consp name) (or (owning-symbol (second (or (member :in name) (list name (second name)))))
                          'cl:car))
        (t 'cl:car)))

#+sbcl
(defun reference-lines (entries limit)
  "(VALUES LINES COUNT): a line for each of ENTRIES, (NAME . DEFINITION-SOURCE), without
duplicates, the user's before the system's, at most LIMIT; and how many there are."
  (let ((table (make-hash-table :test 'equal)) (named '()))
    (loop for (name . source) in entries
          for shown = (format nil "~A~A" (shown-name name)
                              (if (and source (consp name) (eq (first name) 'method) (null (cddr name)))
                                  (source-description source)
                                  ""))
          unless (gethash shown table)
            do (setf (gethash shown table) t)
               (push (list (if (internal-package-p (or (symbol-package (owning-symbol name)) *package*)) 1 0)
                           shown (source-name (public-name name)) source)
                     named))
    (setf named (stable-sort (sort named #'string< :key #'second) #'< :key #'first))
    (values (loop for (nil shown in-file source) in (first-few named limit)
                  for site = (and source (source-site source in-file))
                  collect (format nil "- ~A~@[, ~A~]" shown
                                  (and site (site-origin site) (brief-site-text site))))
            (length named))))

#+sbcl
(defun function-entries (functions)
  "((NAME . DEFINITION-SOURCE) ...) of FUNCTIONS, without internal ones of the system."
  (loop for function in functions
        for name = (ignore-errors (sbcl:%fun-name function))
        for symbol = (let ((public (and name (public-name name))))
                       (if (consp public) (find-if #'symbolp (rest public)) public))
        when (and name
                  (symbolp symbol)
                  (not (and (consp name) (keywordp (first name)))) ; an undefined one's trampoline
                  (or (null symbol)
                      (not (implementation-package-p (symbol-package symbol)))
                      (public-p symbol)))
          collect (cons name (ignore-errors (sb-introspect:find-definition-source function)))))

#+sbcl
(defun function-objects-of (name)
  "The function objects of NAME: a function, a macro's expander, or the functions of a generic
function's methods."
  (let ((function (cond ((and (symbolp name) (macro-function name)))
                        ((fboundp name) (fdefinition name)))))
    (cond ((null function) '())
          ((typep function 'generic-function)
           (loop for method in (sb-mop:generic-function-methods function)
                 collect (or (ignore-errors (sbcl:safe-method-fast-function method))
                             (sb-mop:method-function method))))
          (t (list function)))))

#+sbcl
(defun callees (name)
  (remove-duplicates
   (loop for function in (function-objects-of name)
         for code = (ignore-errors (sbcl:%fun-fun function))
         when (typep code 'function)
           append (ignore-errors (sb-introspect:find-function-callees code)))))

#+sbcl
(defun searchable-p (name)
  "True if the heap is to be searched for callers of NAME, because the compiler may not have
recorded them."
  (and (symbolp name) (fboundp name)
       (not (macro-function name)) (not (special-operator-p name))
       (not (typep (fdefinition name) 'generic-function))
       (not (internal-package-p (symbol-package name)))
       (not (eq (symbol-package name) (find-package '#:common-lisp)))))

#+sbcl
(defun references (name kind)
  "((NAME . DEFINITION-SOURCE) ...) of the KIND of references to or from NAME."
  (flet ((xref (function) (and (symbolp name) (funcall function name))))
    (cond ((string= kind "calls") (function-entries (callees name)))
          ((string= kind "called-by")
           (or (ignore-errors (sb-introspect:who-calls name))
               (and (searchable-p name)
                    (function-entries
                     (ignore-errors (sb-introspect:find-function-callers (fdefinition name)))))))
          ((string= kind "references") (xref #'sb-introspect:who-references))
          ((string= kind "binds") (xref #'sb-introspect:who-binds))
          ((string= kind "sets") (xref #'sb-introspect:who-sets))
          ((string= kind "macroexpands") (xref #'sb-introspect:who-macroexpands))
          ((and (string= kind "specializes") (symbolp name) (find-class name nil))
           (sb-introspect:who-specializes-directly name)))))

(defun cross-reference (text kind &key (session "default") package (limit 50))
  "Answer (:TITLE :SECTIONS :NOTES) about references of KIND, a string of *REFERENCE-KINDS* or
\"all\", to or from the symbol or (SETF SYMBOL) that TEXT names."
  (with-look-up (session)
    (let ((name (find-function-name text session package))
          (notes '())
          (*file-texts* (make-hash-table :test 'equal)))
      (let ((sections
              (loop for (each . title) in *reference-kinds*
                    append (when (or (string= kind "all") (string= kind each))
                             (multiple-value-bind (lines count)
                                 #+sbcl (reference-lines (references name each) limit)
                                 #-sbcl (values '() 0)
                               (when (> count limit)
                                 (push (format nil "~A: ~D of ~D are shown; a higher limit shows more."
                                               title limit count)
                                       notes))
                               (and lines (list (cons title lines))))))))
        (plist-without-nils
         :title (function-spelling name)
         :sections sections
         :notes (append (reverse notes)
                        (unless sections
                          '("The compiler records references of code that it has compiled. It does not see calls through variables, calls that it has expanded inline, and most that the system makes inside itself."))))))))
;;;; echoes.lisp -- the queue of what is to be shown to a person who watches

(cl:in-package #:swank-mcp)

;;; While nobody watches, nothing is queued.  people/echo.lisp shows what is.

(defparameter *max-echoes* 1000
  "How many items wait to be shown; the oldest are left out.")

(defvar *echoing* nil
  "True while somebody watches.")

(defvar *echo-place* (constantly "")
  "A function that returns where it is shown, in words.")

(defvar *echoes* '() "Newest first.")
(defvar *echo-count* 0)
(defvar *echoes-left-out* 0)
#+sbcl (defvar *echo-news* (sb-thread:make-semaphore :name "swank-mcp echo"))

(defun note-echo (what action &optional type message)
  "Have it shown that WHAT, :BEGUN, :ENDED, :SUSPENDED or :GOES-ON, has happened to ACTION."
  (when *echoing*
    (with-lock ()
      (when (>= *echo-count* (* 2 *max-echoes*)) ; half of them, so that this is rare
        (setf *echoes* (first-few *echoes* *max-echoes*))
        (incf *echoes-left-out* (- *echo-count* *max-echoes*))
        (setf *echo-count* *max-echoes*))
      (push (list what action type message) *echoes*)
      (incf *echo-count*))
    #+sbcl (sb-thread:signal-semaphore *echo-news*)))

(defun take-echoes ()
  "(VALUES ITEMS LEFT-OUT): what waits to be shown, oldest first, and how much was left out."
  (with-lock ()
    (setf *echo-count* 0)
    (values (reverse (shiftf *echoes* '())) (shiftf *echoes-left-out* 0))))

(defun await-echo ()
  "Wait until there is something to be shown, a second at most."
  #+sbcl (progn (sb-thread:wait-on-semaphore *echo-news* :timeout 1)
                (loop while (sb-thread:try-semaphore *echo-news*)))
  #-sbcl (loop repeat 10 until *echoes* do (sleep 0.1)))

(defun begin-echo-p ()
  "True if nobody has watched so far."
  (with-lock () (not (shiftf *echoing* t))))

(defun end-echo-p ()
  "True if all is shown; then nobody watches any more."
  (with-lock ()
    (and (null *echoes*)
         (progn (setf *echoing* nil) t))))
;;;; evaluation.lisp -- evaluations in progress, and those of them that are suspended

(cl:in-package #:swank-mcp)

(defstruct (evaluation (:copier nil))
  token                  ; integer from the bridge, increasing
  action                 ; its ACTION in the history, or NIL; see BEGIN-ACTION
  session code thread
  (caller '(nil "evaluate-lisp" nil)) ; see CALLER
  input                  ; text for its standard input, or NIL
  form (start 0)         ; the one being evaluated, and where it begins in CODE
  allowed                ; true if the person was asked and has allowed it
  job                    ; true of one in the background; see background.lisp
  timedp                 ; true if its processor time is wanted
  system                 ; name of the one being loaded, or NIL
  work                   ; what is done in place of evaluating CODE, and
  report                 ; a function that returns the :REPORT of its answer; see perform.lisp
  restore                ; the RESTORING, or NIL, and
  (failures '())         ; what failed of it; see restore-entries.lisp
  (journal '())          ; entries made, newest first
  (loaded '())           ; of systems loaded: (NAME FILE ...)
  (losses '())           ; (KEY-TEXT WHY) of definitions without source
  debuggee               ; of one that may be suspended; see suspend.lisp
  frame                  ; of a suspended one, in which this one evaluates
  nested                 ; evaluation of arguments in the debugger, or NIL
  (records '())          ; of warnings; see warnings.lisp
  origin                 ; file that defines the system it is about, or NIL
  built                  ; text on which of the system's files were compiled, or NIL
  (remarks '())          ; for the reply, newest first
  (replaced '())         ; definitions of somebody else's; see replaced.lisp
  (orphans '())          ; definitions that no file has any more; see orphans.lisp
  (started (microseconds))       ; see MICROSECONDS
  (heap-base 0)                  ; bytes in the heap then; see heap-limit.lisp
  (out (make-sink)) (err (make-sink))
  waits                  ; text on a lock that it waited for when it was stopped; see locks.lisp
  (activep nil)          ; true while ESCAPE may be called
  escape                 ; function of a report: ends the evaluation with it
  early-stop)            ; reason of a stop that came before ACTIVEP

(defvar *evaluations* '()
  "The evaluations in progress.")

(defvar *early-stops* '()
  "(TOKEN REASON SESSION-NAME) of each stop that came before its evaluation.")

(defvar *evaluation* nil
  "The evaluation of the current thread, or NIL.")

;;; What the person wants to be asked; see people/allow.lisp

(defvar *ask-person* nil
  "A function of an evaluation, and of what it redefines or NIL: a report that the person does not
allow that, or NIL.  Or NIL if they are not to be asked.")

(defvar *ask-always* nil
  "True if they are to be asked before each evaluation.")

(defun policy ()
  "What agents may do without the person's yes: \"everything\", \"new\" or \"nothing\"; see ALLOW."
  (cond ((null *ask-person*) "everything")
        (*ask-always* "nothing")
        (t "new")))

(defun forbidden-report (evaluation &optional what)
  "A report that EVALUATION is not allowed, if the person has to be asked; or NIL.  They are not asked
whether definitions may be brought back that they have allowed before."
  (when (and *ask-person* (or what (and *ask-always* (evaluation-action evaluation)))
             (not (evaluation-allowed evaluation)))
    (or (funcall *ask-person* evaluation what)
        (progn (setf (evaluation-allowed evaluation) t)
               nil))))

;;; In the history

(defun begin-action (evaluation)
  "Enter EVALUATION into the history, unless it is one of the helper's own or a thread of the
program.  *LOCK* is held."
  (when (and (plusp (evaluation-token evaluation)) (not (evaluation-restore evaluation)))
    (let ((session (evaluation-session evaluation)) (caller (evaluation-caller evaluation)))
      (setf (evaluation-action evaluation)
            (add-action (make-action :token (evaluation-token evaluation)
                                     :began (get-universal-time)
                                     :client (first caller) :tool (second caller)
                                     :session (session-name session)
                                     :code (code-for-people (or (evaluation-system evaluation)
                                                                (evaluation-code evaluation))
                                                            (action-limit :code))))))))

(defun end-action (evaluation texts report)
  "Enter what EVALUATION, which has ended, has come to: TEXTS of its values, or REPORT."
  (let ((action (evaluation-action evaluation)))
    (when action
      (setf (action-microseconds action)
            (- (microseconds) (evaluation-started evaluation) (parked-time evaluation))
            (action-out action) (clipped (sink-text (evaluation-out evaluation)) (action-limit :out))
            (action-err action) (clipped (sink-text (evaluation-err evaluation)) (action-limit :err))
            (action-values action) (and (not report)
                                        (loop for text in texts
                                              repeat 20
                                              collect (clipped text (action-limit :value)))))
      (note-outcome evaluation (if report (getf report :kind) :done) report)
      (note-echo :ended action))))

(defun note-outcome (evaluation state &optional report)
  "Note that EVALUATION is in STATE, as REPORT says; with T it runs on."
  (let ((action (evaluation-action evaluation)))
    (when action
      (setf (action-state action) state
            (action-type action) (getf report :type)
            (action-message action) (let ((message (getf report :message)))
                                      (and message (clip message (action-limit :message)))))
      (with-lock ()
        (when (keptp action) (measure-action action))))))

(defun note-suspension (evaluation what &optional report)
  "Have it shown that EVALUATION is suspended with REPORT, or goes on."
  (when (evaluation-action evaluation)
    (note-echo what (evaluation-action evaluation) (getf report :type) (getf report :message))))

(defun leave-action (evaluation)
  "Note that EVALUATION is not in progress any more."
  (let ((action (evaluation-action evaluation)))
    (when (and action (member (action-state action) '(:running :suspended)))
      (setf (action-state action) :lost)
      (note-echo :ended action))))

(defun evaluation-number (evaluation)
  "The number by which people know EVALUATION, or NIL."
  (let ((action (evaluation-action evaluation)))
    (and action (action-number action))))

(defun unregister (evaluation)
  (with-lock ()
    (setf *evaluations* (remove evaluation *evaluations*))))

(defun registeredp (evaluation)
  (with-lock () (member evaluation *evaluations*)))

(defun find-evaluation (token)
  (with-lock ()
    (find token *evaluations* :key #'evaluation-token)))

(defun others-work-p (session)
  "True while something is evaluated in another session."
  (with-lock ()
    (find session *evaluations* :key #'evaluation-session :test-not #'eq)))

(defun defining-elsewhere-p (session)
  "True while another thread evaluates for SESSION.  It notes a definition a moment before it
makes it."
  (with-lock ()
    (find-if (lambda (evaluation)
               (and (eq session (evaluation-session evaluation))
                    (not (eq (swank/backend:current-thread) (evaluation-thread evaluation)))
                    (not (suspendedp evaluation))))
             *evaluations*)))

;;; Suspended ones, which wait in the debugger: see suspend.lisp

(defstruct (debuggee (:copier nil))
  "What an EVALUATION needs to be suspended."
  (state :running)       ; :RUNNING, :SUSPENDED, :BUSY with a command, :PERSON while one has it in
                         ; their debugger, or :ENDED
  personp                ; true if a person has taken it over; see people/take-over.lisp
  (client nil)           ; the CLIENT that waits for its outcome
  #+sbcl (wake (sb-thread:make-semaphore)) ; signalled when there is something to do
  (ending nil)           ; reason why it is to end
  (patience 600000)      ; milliseconds it may wait for a command
  connection             ; of Swank, that of the bridge
  (since 0) (parked 0)   ; microseconds: when it was suspended, for how long in all
  condition report frames
  (restarts '()) abort-restart) ; those to choose from; the last of them

(defstruct (client (:copier nil))
  "A thread that waits for an outcome; COMMAND is a function for the suspended thread to call."
  command outcome
  takenp                                ; true when the evaluation has begun with it
  #+sbcl (news (sb-thread:make-semaphore)))

(defun suspendedp (evaluation)
  (let ((debuggee (evaluation-debuggee evaluation)))
    (and debuggee (member (debuggee-state debuggee) '(:suspended :busy :person)) t)))

(defun suspended-evaluations (session)
  (with-lock ()
    (remove-if-not (lambda (evaluation)
                     (and (eq session (evaluation-session evaluation))
                          (suspendedp evaluation)))
                   *evaluations*)))

(defun parked-time (evaluation)
  (let ((debuggee (evaluation-debuggee evaluation)))
    (if debuggee (debuggee-parked debuggee) 0)))

;;; A thread that a session's code has started may be suspended, too.  It counts as an evaluation,
;;; with a negative token that the image gives it: see suspended-threads.lisp

(defun thread-of-program-p (evaluation)
  (minusp (evaluation-token evaluation)))

(defun suspended-threads-for-wire (session)
  "((TOKEN WHAT TYPE MESSAGE) ...), oldest first; with the errors that a person shows."
  (append (shown-errors-for-wire) (threads-of-session-for-wire session)))

(defun shown-errors-for-wire ()
  (loop for shown in (reverse (and *shown-errors* (live-shown-errors)))
        for report = (shown-error-report shown)
        collect (list (shown-error-token shown) "the person's error" (getf report :type)
                      (clip (getf report :message) 1000))))

(defun threads-of-session-for-wire (session)
  (loop for evaluation in (reverse (suspended-evaluations session))
        for report = (debuggee-report (evaluation-debuggee evaluation))
        when (thread-of-program-p evaluation)
          collect (list (evaluation-token evaluation) (evaluation-code evaluation)
                        (getf report :type) (clip (getf report :message) 1000))))

;;; The report of an evaluation: see perform.lisp

(defun report-with (evaluation function)
  "Have the answer of EVALUATION carry what FUNCTION returns when it has ended."
  (setf (evaluation-report evaluation) function))

(defun work-report (evaluation)
  (and (evaluation-report evaluation)
       (funcall (evaluation-report evaluation))))

(defun refuse (type message &optional advice)
  "End the current evaluation with an error that has no backtrace.  ADVICE is a plist that is added
to the report."
  (funcall (evaluation-escape *evaluation*) (append (failure type message) advice)))
;;;; guests.lisp -- the bridges that are attached to an image that is somebody's

(cl:in-package #:swank-mcp)

(defstruct (guest (:constructor make-guest (connection bridge)) (:copier nil))
  connection bridge (threads '())
  name                                  ; client's name and version
  client                                ; by which people know it; see NAME-GUEST
  (sessions '()) (news '()))            ; see joining.lisp

(defvar *guests* '()
  "A GUEST for each bridge that is attached, or that has left threads behind.")

(defvar *image-id* (format nil "~36R" (random (expt 36 12) (make-random-state t)))
  "Tells this image from one that is started at the same address later.")

(defvar *paused* nil
  "True while evaluations of bridges that would begin are refused; see people/pause.lisp.")

(defun find-guest (connection)
  (with-lock () (find connection *guests* :key #'guest-connection)))

(defun note-guest-thread (connection thread)
  "A no-op in an image that was launched, where the threads end with the image."
  (let ((guest (find-guest connection)))
    (when guest
      (with-lock ()
        (setf (guest-threads guest)
              (cons thread (remove-if-not #'swank/backend:thread-alive-p
                                          (guest-threads guest))))))))

(defun control-thread (connection)
  "Swank's thread that lives as long as CONNECTION; NIL without threads."
  (and (typep connection 'swank::multithreaded-connection)
       (swank::mconn.control-thread connection)))

(defun connectedp (connection)
  "True until CONNECTION has ended."
  (let ((thread (control-thread connection)))
    (if thread
        (swank/backend:thread-alive-p thread)
        (member connection swank::*connections*))))

;;; Swank's sentinel puts a connection into the list of connections a moment after that has begun to
;;; serve.  On a busy machine the moment is long enough for a whole evaluation, whose questions would
;;; be told to nobody.
(defun await-own-connection ()
  "Return when Swank has this thread's connection in its list: after two seconds at the latest."
  (let ((connection (own-connection)))
    (when (control-thread connection)
      (loop repeat 2000
            until (member connection swank::*connections*)
            do (sleep 0.001)))))

(defun tell-bridges (control &rest arguments)
  "Send a message to every bridge, which reads its first word; see swank/lisp/people.go."
  (let ((text (format nil "swank-mcp ~?" control arguments)))
    (dolist (connection (if *launched*
                            swank::*connections*
                            (with-lock () (mapcar #'guest-connection *guests*))))
      (let ((thread (control-thread connection)))
        (when (and thread (connectedp connection))
          (ignore-errors (swank/backend:send thread (list :background-message text))))))))

(defun await-end (connection)
  "Return when CONNECTION has ended."
  (let ((thread (control-thread connection)))
    #+sbcl (sb-thread:join-thread thread :default nil)
    #-sbcl (loop while (swank/backend:thread-alive-p thread) do (sleep 1))))

(defun in-own-thread (name function)
  (swank/backend:spawn function :name name))

(defun own-guest () (guest-of *evaluation*))

(defun guest-of (evaluation)
  "The guest whose request this thread serves, for EVALUATION or without one."
  (let ((connection (or (own-connection)
                        (let ((debuggee (and evaluation (evaluation-debuggee evaluation))))
                          (and debuggee (debuggee-connection debuggee))))))
    (and connection (find-guest connection))))

(defun name-guest (guest name)
  "Note that the client of GUEST has that NAME.  Where another one has it, too, people know it as
NAME #2."
  (unless (equal name (guest-name guest))
    (let ((others (with-lock () (remove guest *guests*))) (short (on-one-line (clip name 60))))
      (setf (guest-name guest) name
            (guest-client guest)
            (loop for number from 1
                  for text = (if (= number 1) short (format nil "~A #~D" short number))
                  unless (find-if (lambda (other)
                                    (and (equal text (guest-client other))
                                         (not (equal (guest-bridge guest) (guest-bridge other)))
                                         (connectedp (guest-connection other))))
                                  others)
                    return text)))))

;;; For whom calls are

(defvar *caller* nil
  "CALLER of the call that this thread carries out and that names it; or NIL.  Calls of a session that
come meanwhile on other threads may be for others.")

(defun caller (session &optional (guest (own-guest)))
  "(CLIENT TOOL PERSONP): for whom and by which tool the calls of GUEST in SESSION are, and whether they
are a person's."
  (or *caller* (rest (assoc guest (session-callers session))) '(nil "evaluate-lisp" nil)))

(defun client-of-caller (session)
  "By whom the current request is, as people know it; or NIL."
  (let ((guest (own-guest)))
    (if guest (guest-client guest) (first (caller session nil)))))

(defun call-by (personp session client tool function arguments)
  (let ((session (ensure-session session)) (guest (own-guest)))
    (when (and guest (not personp))
      (name-guest guest client)
      (setf client (guest-client guest)))
    (with-lock ()
      (setf (session-callers session)
            (cons (list guest client tool personp)
                  (remove-if-not (lambda (other) (and (not (eq other guest)) (member other *guests*)))
                                 (session-callers session) :key #'first))))
    (let ((*caller* (list client tool personp)))
      (apply (find-symbol (symbol-name function) '#:swank-mcp) arguments))))

(defun by (session client tool function &rest arguments)
  "Call FUNCTION, a keyword, of the helper's for CLIENT and TOOL, as are the calls of this bridge
in SESSION that follow, until it names another."
  (call-by nil session client tool function arguments))

(defun by-person (session client tool function &rest arguments)
  "BY for a person who works in the session of an agent, and needs nobody's permission."
  (call-by t session client tool function arguments))

(defun other-guests (name)
  "The guests that work in the session NAME, but for the one that asks."
  (let ((own (own-guest)))
    (with-lock ()
      (remove-if-not (lambda (guest)
                       (and (not (eq guest own))
                            (member name (guest-sessions guest) :test #'string=)
                            (connectedp (guest-connection guest))))
                     *guests*))))

(defun tell-others (name text)
  "Have the other guests in the session NAME told TEXT with their next reply."
  (dolist (guest (other-guests name))
    (with-lock ()
      (unless (member text (guest-news guest) :test #'string=)
        (push text (guest-news guest))))))

(defun take-guest-news ()
  (let ((guest (and *guests* (own-guest))))
    (and guest (guest-news guest)
         (with-lock () (reverse (shiftf (guest-news guest) '()))))))
;;;; history.lisp -- what agents have done in this image, for the person who shares it

(cl:in-package #:swank-mcp)

;;; Each evaluation that a client has asked for is an action, and so is a reset.  An action has the
;;; evaluation's number.  The newest are kept, in a vector of fixed size and with a bound on their
;;; text.  people/history.lisp shows them.

(defstruct (action (:copier nil))
  number token
  began                                 ; universal time
  microseconds                          ; it took, or NIL
  (state :running)                      ; then :DONE, :ERROR and the other kinds of reports, or :SUSPENDED
  client session tool package frame
  (code "")
  (out "") (err "")                     ; beginnings of what it printed
  (values '())                          ; texts
  type message                          ; of an error
  (changes '()) (changes-left-out 0)    ; see definitions/changes.lisp
  (size 0)                              ; characters of all that
  remarks)                              ; texts, such as that it was undone

(defparameter *max-actions* 4096)

(defparameter *max-action-characters* 2000000
  "How many characters of code, output and values all actions keep together.")

(defparameter *action-limits* '(:code 10000 :out 4000 :err 4000 :value 2000 :message 4000)
  "How many characters of each an action keeps.")

(defvar *actions* nil
  "A vector with the action of number N at N modulo its length; NIL before the first.")

(defvar *last-number* 0
  "The number of the newest action.")

(defvar *oldest-number* 1
  "The number of the oldest action that is kept.")

(defvar *action-characters* 0)

(defun find-action (number)
  (and *actions*
       (<= *oldest-number* number *last-number*)
       (svref *actions* (mod number *max-actions*))))

(defun action-limit (what) (getf *action-limits* what))

(defun add-action (action)
  "Number ACTION and keep it.  *LOCK* is held."
  (unless *actions* (setf *actions* (make-array *max-actions* :initial-element nil)))
  (let ((number (incf *last-number*)))
    (setf (action-number action) number)
    (when (> (- number *oldest-number*) (1- *max-actions*)) (forget-oldest-action))
    (setf (svref *actions* (mod number *max-actions*)) action)
    (measure-action action)
    action))

(defun forget-oldest-action ()
  (let ((place (mod *oldest-number* *max-actions*)))
    (decf *action-characters* (action-size (svref *actions* place)))
    (setf (svref *actions* place) nil)
    (incf *oldest-number*)))

(defun measure-action (action)
  "Count the characters of ACTION, which is kept, and forget the oldest actions if there are too
many.  *LOCK* is held."
  (let ((size (+ 100 (length (action-code action)) (length (action-out action))
                 (length (action-err action)) (length (action-message action))
                 (loop for text in (action-values action) sum (length text))
                 (loop for change in (action-changes action) sum (change-size change)))))
    (incf *action-characters* (- size (shiftf (action-size action) size)))
    (loop while (and (> *action-characters* *max-action-characters*)
                     (< *oldest-number* (action-number action)))
          do (forget-oldest-action))))

(defstruct (change (:copier nil))
  key                                   ; of the definition that was made
  newp                                  ; true if there was none before
  saved                                 ; else that, as SAVED-DEFINITION has it,
  source                                ; and its source text, or NIL
  identity)                             ; of the definition that was made

(defun change-size (change)
  (+ 50 (length (change-source change))))

(defun keptp (action)
  (eq action (find-action (action-number action))))

(defun code-for-people (code limit)
  "CODE, a string or a form, as a text."
  (if (stringp code)
      (clipped (list (string-trim '(#\space #\newline #\tab) code)) limit)
      (clip (with-standard-io-syntax
              (let ((*print-readably* nil) (*package* (find-package '#:swank-mcp)))
                (safely (prin1-to-string code))))
            limit)))

(defun clipped (text limit)
  "TEXT, (HEAD) or (HEAD TAIL OMITTED) or NIL, as a string of about LIMIT characters."
  (destructuring-bind (&optional (head "") (tail "") (omitted 0)) text
    (let ((more (+ omitted (length tail) (max 0 (- (length head) limit)))))
      (if (plusp more)
          (format nil "~A~%... ~:D more characters" (subseq head 0 (min limit (length head))) more)
          head))))
;;;; locks.lisp -- locks that threads wait for, and who holds them

(cl:in-package #:swank-mcp)

(defparameter *system-locks*
  '(("**WORLD-LOCK**" "SBCL's world lock" ", which classes, methods and parts of the compiler need")
    ("*PACKAGE-GRAPH-LOCK*" "the lock of all packages" ""))
  "(VARIABLE NAME REMARK) of locks of the Lisp system that every thread needs at some time.")

(defun system-locks ()
  "((MUTEX NAME REMARK) ...) of those that this SBCL has."
  (loop for (name . words) in *system-locks*
        for lock = (or (named-value '#:sb-kernel name) (named-value '#:sb-impl name))
        when (typep lock 'sb-thread:mutex) collect (cons lock words)))

(defun locks-held ()
  "The names of the system locks that this thread holds.  If a suspended thread held one, the
image would soon come to a standstill."
  (loop for (mutex words) in (system-locks)
        when (sb-thread:holding-mutex-p mutex) collect words))

(defun lock-label (mutex)
  "How to name MUTEX.  This calls no printing method: it might wait for the same lock."
  (let ((name (sb-thread:mutex-name mutex)))
    (cond ((second (assoc mutex (system-locks))))
          ((and name (typep name '(or string symbol))) (format nil "the lock ~S" name))
          (t "a lock without a name"))))

(defun awaited-lock (thread)
  "(VALUES MUTEX OWNER) of the lock that THREAD waits for, or NIL; OWNER is NIL if unknown.
A thread that is being interrupted does not count as waiting, so another one has to ask."
  (let ((what (ignore-errors (sbcl:thread-waiting-for thread))))
    (when (typep what 'sb-thread:mutex)
      (let ((owner (sb-thread:mutex-owner what)))
        (values what (and (typep owner 'sb-thread:thread) owner))))))

(defun waiting-text (thread)
  "What THREAD waits for and who holds it, in words; NIL if it does not wait."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (cond (mutex
           (format nil "waits for ~A~@[, held by thread ~A~]" (lock-label mutex)
                   (and owner (format nil "~D ~A" (thread-number owner) (thread-label owner)))))
          ((ignore-errors (sbcl:thread-waiting-for thread)) "waits to be woken"))))

(defun lock-text (thread)
  "WAITING-TEXT if THREAD waits for a lock, else NIL."
  (and (awaited-lock thread) (waiting-text thread)))

(defun lock-advice (thread)
  "Sentences about the lock that THREAD waits for: who holds it and what to do.  NIL if it waits
for none."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (when mutex
      (format nil "It waited for ~A~@[~A~].~@[ ~A~]"
              (lock-label mutex) (third (assoc mutex (system-locks)))
              (and owner (holder-advice owner))))))

(defun holder-advice (owner)
  (let* ((number (thread-number owner)) (evaluation (thread-evaluation owner)))
    (format nil "The thread ~D ~S holds it~@[, which itself ~A~]. ~A" number (thread-label owner)
            (lock-text owner)
            (cond ((and evaluation (suspendedp evaluation))
                   "An evaluation is suspended in it: session-status lists that, and abort-evaluation ends it.")
                  (evaluation
                   (format nil "It evaluates for session ~S: ~A"
                           (session-name (evaluation-session evaluation))
                           (clip (princ-to-string (evaluation-code evaluation)) 80)))
                  ((not (eq :user (thread-role owner)))
                   (format nil "It is ~A." (nth-value 1 (thread-role owner))))
                  ((or *launched* (find owner (live-session-threads) :key #'session-thread-thread))
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is; with \"action\": \"abort\" it ends the thread, and the lock is free."
                           number))
                  (t
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is. It is none that this session has started: ask the person whose Lisp this is before you end it."
                           number))))))

(defun waits-for (id)
  "Answer LOCK-ADVICE about the thread with Swank's ID, or \"\"."
  (let ((thread (find id (swank/backend:all-threads) :key #'swank/backend:thread-id)))
    (answer (or (and thread (lock-advice thread)) ""))))
;;;; lookups.lisp -- look-ups: their answers, errors and time limit

(cl:in-package #:swank-mcp)

(defun call-with-listing-syntax (function)
  (with-standard-io-syntax
    (let ((*package* (find-package '#:common-lisp-user))
          (*print-readably* nil) (*print-pretty* nil) (*print-circle* t)
          (*print-length* 20) (*print-level* 4))
      (funcall function))))

(defun name-text (name) (safely (prin1-to-string name)))

(defvar *lookup-seconds* 6
  "How long a look-up may take.  It may print objects by methods of the user's, which may do
anything.")

(defun call-with-time-limit (seconds function late)
  "The values of FUNCTION; if SECONDS pass before it returns, those of LATE, called with advice on
the lock for which FUNCTION waits, or NIL."
  #+sbcl
  (block nil
    (let* ((activep t) (thread sb-thread:*current-thread*)
           (timer (sb-ext:make-timer
                   (lambda ()
                     (let ((lock (ignore-errors (lock-advice thread))))
                       (ignore-errors   ; it may have ended
                        (interrupt-safely
                         thread (lambda () (when activep (return (funcall late lock))))))))
                   :thread t)))         ; an interrupted thread does not count as waiting
      (sb-ext:schedule-timer timer seconds)
      (unwind-protect (funcall function)
        (setf activep nil)
        (sb-ext:unschedule-timer timer))))
  #-sbcl (progn seconds late (funcall function)))

(defun failure-for-wire (failure)
  (list :error (list :type (failure-type failure) :message (failure-message failure)
                     :names (failure-names failure))))

(defun call-looking-up (session function)
  "Answer what FUNCTION, called with the session named SESSION, returns; or
(:ERROR (:TYPE :MESSAGE :NAMES)) if it signals an error, takes too long, or calls code of the
program's that asks the image to end."
  (let ((session (ensure-session session)) (*break-on-signals* nil))
    (flet ((look ()
             (handler-bind ((warning #'muffle))
               (handler-case (call-with-listing-syntax (lambda () (funcall function session)))
                 (lookup-failure (failure) (failure-for-wire failure))
                 (serious-condition (condition)
                   (list :error (list :type (type-label condition)
                                      :message (clip (condition-text condition) 2000)))))))
           (late (lock)
             (list :error (list :type "TIMEOUT"
                                :message (format nil "The look-up was stopped after ~D seconds~:[: one of the program's own PRINT-OBJECT methods does not end, or the image is very busy.~;. ~:*~A~]"
                                                 *lookup-seconds* lock)))))
      (answer (call-with-time-limit *lookup-seconds*
                                    (lambda () (call-as-look-up #'look))
                                    #'late)))))

(defun call-as-look-up (function)
  "Call FUNCTION, a look-up; refuse if a method of the program's asks the image to end."
  (block nil
    (call-refusing-exit
     function
     (lambda (what)
       (return
         (list :error (list :type "EXIT-REFUSED"
                            :message (format nil "A method of the program's that the look-up called asked ~A to end. It is not ended." what)))))
     "the thread that looks")))

(defmacro with-look-up ((session) &rest body)
  "Answer what BODY returns; see CALL-LOOKING-UP.  The variable SESSION has the session's name, and
in BODY the session."
  `(call-looking-up ,session (lambda (,session) (declare (ignorable ,session)) ,@body)))
;;;; names.lisp -- finds the symbol that a typed name means, without the reader

(cl:in-package #:swank-mcp)

;;; Look-ups take names as a person writes them: foo, pkg:foo, pkg::foo, |Foo|, :key, #:foo, 'foo,
;;; #'foo, (setf foo).  The reader would intern unknown names and run the user's macro characters.
;;; So names are parsed here, and no symbol is ever interned.

(define-condition lookup-failure (error)
  ((type :initarg :type :reader failure-type)
   (message :initarg :message :reader failure-message)
   (names :initarg :names :initform '() :reader failure-names))
  (:report (lambda (condition stream) (write-string (failure-message condition) stream)))
  (:documentation "The failure of a look-up: TYPE and MESSAGE as shown, and NAMES to try instead,
best first."))

(defun fail-lookup (type names control &rest arguments)
  (error 'lookup-failure :type type :names names
                         :message (with-standard-io-syntax
                                    (apply #'format nil control arguments))))

;;; Parsing a name

(defun fold-case (characters case)
  "The string of CHARACTERS, a list of (CHAR . ESCAPED-P), as the reader folds it
with the readtable-case CASE."
  (let ((plain (loop for (char . escapedp) in characters
                     when (and (not escapedp) (both-case-p char)) collect char)))
    (when (eq case :invert)
      (setf case (cond ((every #'upper-case-p plain) :downcase)
                       ((every #'lower-case-p plain) :upcase)
                       (t :preserve))))
    (map 'string (lambda (entry)
                   (destructuring-bind (char . escapedp) entry
                     (cond (escapedp char)
                           ((eq case :upcase) (char-upcase char))
                           ((eq case :downcase) (char-downcase char))
                           (t char))))
         characters)))

(defun bad-name (text why)
  (fail-lookup "INVALID-NAME" '() "~S is not the name of one symbol: ~A." (clip text 200) why))

(defun name-characters (text)
  "((CHAR . ESCAPED-P) ...) of the token TEXT, with :COLON for each unescaped colon."
  (let ((characters '()) (in-bars nil) (i 0))
    (flet ((next ()
             (prog1 (if (< i (length text)) (char text i) (bad-name text "it ends after a backslash"))
               (incf i))))
      (loop while (< i (length text))
            do (let ((char (next)))
                 (cond ((char= char #\\) (push (cons (next) t) characters))
                       ((char= char #\|) (setf in-bars (not in-bars))
                        ;; so that || is seen to be there
                        (push :bar characters))
                       (in-bars (push (cons char t) characters))
                       ((char= char #\:) (push :colon characters))
                       ((find char '(#\( #\) #\" #\; #\space #\tab #\newline #\return))
                        (bad-name text (format nil "it has ~:C in it" char)))
                       (t (push (cons char nil) characters)))))
      (when in-bars (bad-name text "a bar is missing"))
      (nreverse characters))))

(defun parse-name (text case)
  "(VALUES NAME PACKAGE-NAME COLONS) of the symbol's name TEXT: PACKAGE-NAME is NIL
without a prefix; COLONS is their number, 0 to 2.  CASE is a readtable-case."
  (let* ((token (string-trim '(#\space #\tab #\newline #\return) text))
         (token (string-left-trim "'" token))
         (token (cond ((eql 0 (search "#'" token)) (subseq token 2))
                      ((eql 0 (search "#:" token)) (subseq token 2))
                      (t token))))
    (when (string= token "") (bad-name text "it is empty"))
    (let* ((characters (name-characters token))
           (colons (count :colon characters))
           (colon (position :colon characters)))
      (flet ((name (part) (fold-case (remove :bar part) case)))
        (cond ((null colon) (values (name characters) nil 0))
              ((or (> colons 2)
                   (and (= colons 2) (not (eq :colon (nth (1+ colon) characters)))))
               (bad-name text "at most two colons, side by side, part package and symbol"))
              ((= (length characters) (+ colon colons))
               (bad-name text (format nil "nothing follows the colon~P" colons)))
              (t (values (name (nthcdr (+ colon colons) characters))
                         (if (zerop colon) "KEYWORD" (name (subseq characters 0 colon)))
                         (if (zerop colon) 2 colons))))))))

;;; Spelling a symbol so that it can be found again

(defun bare-spelling (name)
  "NAME, between bars if the reader needs them."
  (with-standard-io-syntax
    (let ((*print-gensym* nil) (*print-readably* nil))
      (prin1-to-string (make-symbol name)))))

(defun spelling (symbol)
  "SYMBOL with the package that it is known by: CAR, MY:FOO, MY::BAR, :KEY."
  (let ((home (symbol-package symbol)) (name (bare-spelling (symbol-name symbol))))
    (cond ((null home) (format nil "#:~A" name))
          ((keywordp symbol) (format nil ":~A" name))
          ((member home (list (find-package '#:common-lisp) (find-package '#:common-lisp-user)))
           name)
          (t (qualified-spelling symbol)))))

(defun qualified-spelling (symbol)
  "SYMBOL with a package prefix, by which it is found from every package."
  (let ((home (symbol-package symbol)))
    (cond ((or (null home) (keywordp symbol)) (spelling symbol))
          (t (let ((package (presenting-package-name symbol)))
               (format nil "~A~:[::~;:~]~A"
                       (bare-spelling package)
                       (eq :external (nth-value 1 (find-symbol (symbol-name symbol) package)))
                       (bare-spelling (symbol-name symbol))))))))

(defun function-spelling (name)
  "SPELLING, also of (SETF FOO)."
  (if (symbolp name)
      (spelling name)
      (format nil "(SETF ~A)" (spelling (second name)))))

;;; Suggestions

(defun internal-package-p (package)
  "True of packages of the implementation, of Swank and of the helper."
  (let ((name (package-name package)))
    (or (implementation-package-p package)
        (find-if (lambda (prefix) (eql 0 (search prefix name)))
                 '("SWANK" "UIOP/" "ASDF/" "HELPER-TEST")))))

(defun preferred-p (symbol)
  "True of symbols that a person is likely to mean: not the system's own."
  (not (internal-package-p (symbol-package symbol))))

(defun named-thing-p (symbol)
  "True if SYMBOL names something: a function, variable, class or type."
  (or (fboundp symbol) (boundp symbol) (find-class symbol nil)
      #+sbcl (sbcl:info :type :expander symbol)
      #+sbcl (not (eq :unknown (sbcl:info :variable :kind symbol)))))

(defun symbols-elsewhere (name)
  "At most five symbols called NAME in any package that name something or are exported, the
likeliest first."
  (let ((found (remove-if-not (lambda (symbol)
                                (let ((home (symbol-package symbol)))
                                  (and home
                                       (not (keywordp symbol))
                                       (or (named-thing-p symbol)
                                           (eq :external (nth-value 1 (find-symbol name home)))))))
                              (find-all-symbols name))))
    (flet ((rank (symbol)
             (+ (if (preferred-p symbol) 0 2)
                (if (eq :external (nth-value 1 (find-symbol name (symbol-package symbol)))) 0 1))))
      (first-few (stable-sort (sort found #'string< :key #'qualified-spelling) #'< :key #'rank) 5))))

(defun near-symbols (name package externals-only)
  "At most five symbols of PACKAGE with names like NAME, the nearest first."
  (let ((limit (max 2 (floor (length name) 3))) (near '()) (seen (make-hash-table :test 'eq)))
    (flet ((consider (symbol)
             (let ((other (symbol-name symbol)))
               (when (and (<= (abs (- (length other) (length name))) limit)
                          (not (gethash symbol seen))
                          (named-thing-p symbol))
                 (setf (gethash symbol seen) t)
                 (let ((distance (name-distance name other)))
                   (when (<= distance limit)
                     (push (cons distance symbol) near)))))))
      (if externals-only
          (do-external-symbols (symbol package) (consider symbol))
          (do-symbols (symbol package) (consider symbol))))
    (mapcar #'cdr
            (first-few (stable-sort (sort near #'string< :key (lambda (entry) (symbol-name (cdr entry))))
                                    #'< :key #'car)
                       5))))

;;; Finding the symbol

(defun named-package (name session)
  "The package called NAME, seen from SESSION's; a LOOKUP-FAILURE if there is none."
  (or (let ((*package* (live-package session)))
        (find-package-named name)) ; with its local nicknames
      (fail-lookup "PACKAGE-ERROR" '() "~A" (unknown-package-text name))))

(defun find-named-symbol (text session &optional package-name)
  "(VALUES SYMBOL PACKAGE) that TEXT names in SESSION.  Without a prefix it is looked up in the
package called PACKAGE-NAME, or else in the session's.  A LOOKUP-FAILURE says whether the package
or the symbol is missing or the symbol is not external.  Nothing is interned."
  (multiple-value-bind (name prefix colons)
      (parse-name text (readtable-case (session-variable session '*readtable*)))
    (let ((package (cond (prefix (prefix-package prefix name session))
                         ((and package-name (string/= package-name ""))
                          (named-package package-name session))
                         (t (live-package session)))))
      (multiple-value-bind (symbol status) (find-symbol name package)
        (cond ((null status) (no-such-symbol name package (= colons 1)))
              ((and (= colons 1) (not (eq status :external)))
               (let ((spelled (format nil "~A::~A" (bare-spelling (package-name package))
                                      (bare-spelling name))))
                 (fail-lookup "SYMBOL-NOT-EXTERNAL" (list spelled)
                              "The symbol ~S is not external in the ~A package. Use ~A."
                              name (package-name package) spelled)))
              (t (values symbol package)))))))

(defun prefix-package (prefix name session)
  (handler-case (named-package prefix session)
    (lookup-failure (failure)
      (let ((elsewhere (mapcar #'qualified-spelling (symbols-elsewhere name))))
        (fail-lookup "PACKAGE-ERROR" elsewhere
                     "~A~@[~%Symbols called ~A: ~{~A~^, ~}.~]" (failure-message failure)
                     (and elsewhere name) elsewhere)))))

(defun no-such-symbol (name package externals-only)
  (let ((elsewhere (mapcar #'qualified-spelling (symbols-elsewhere name)))
        (near (mapcar #'qualified-spelling (near-symbols name package externals-only))))
    (fail-lookup "SYMBOL-NOT-FOUND" (append elsewhere near)
                 "There is no symbol ~S in the package ~A.~@[~%In other packages: ~{~A~^, ~}.~]~@[~%Near it: ~{~A~^, ~}.~]"
                 name (package-name package) elsewhere near)))

(defun setf-place-name (text)
  "FOO of \"(setf foo)\" or \"#'(setf foo)\", else NIL."
  (let* ((text (string-trim '(#\space #\tab #\newline) text))
         (text (if (eql 0 (search "#'" text)) (subseq text 2) text))
         (end (1- (length text))))
    (when (and (> end 6)
               (string-equal "(setf" text :end2 5)
               (find (char text 5) '(#\space #\tab #\newline))
               (char= #\) (char text end)))
      (subseq text 6 end))))

(defun find-function-name (text session &optional package-name)
  "The function name that TEXT names: as FIND-NAMED-SYMBOL, or (SETF SYMBOL)."
  (let ((place (setf-place-name text)))
    (if place
        (list 'setf (find-named-symbol place session package-name))
        (find-named-symbol text session package-name))))
;;;; session.lisp -- sessions: what lasts from one evaluation to the next
;;;;
;;;; The folder session/ has the tables of sessions, of the evaluations in progress, of the bridges
;;;; that are attached, and of the threads that a session's code has started.  It also finds
;;;; symbols by a typed name, and makes look-ups with a time limit.  It uses core/ only.  Begin
;;;; here, then read evaluation.lisp.

(cl:in-package #:swank-mcp)

(defvar *launched* nil
  "True in an image that the bridge started and owns; false in a person's.")

(defvar *attached* nil
  "True once a bridge has attached to this image.")

(defvar *baseline* nil
  "A hash table from package to record of a launched image's beginning, see baseline.lisp.")

(defvar *undefinitions* 0
  "How often something may have been undefined in a launched image.")

(defvar *sessions* (make-hash-table :test 'equal)
  "Name to session.")

(defvar *lock* (swank/backend:make-lock :name "swank-mcp")
  "Held while *SESSIONS* or *EVALUATIONS* is read or changed.")

(defmacro with-lock (() &rest body)
  `(swank/backend:call-with-lock-held *lock* (lambda () ,@body)))

;;; Look-ups read the table of definitions while the session's thread adds to it.  Without a lock
;;; SBCL signals an error in one of the threads.

(defun make-shared-table (&optional (test 'equal))
  "A hash table that several threads may use at once."
  #+sbcl (make-hash-table :test test :synchronized t)
  #-sbcl (make-hash-table :test test))

(defmacro with-shared-table ((table) &rest body)
  "Evaluate BODY, which may be interrupted, while no other thread uses TABLE."
  #+sbcl `(sb-ext:with-locked-hash-table (,table) ,@body)
  #-sbcl `(progn ,table ,@body))

;;; Which packages there are is asked twice in each evaluation.  SBCL counts the changes of names.

(defvar *all-packages* '(nil)
  "(COUNT . PACKAGES): all packages, when SBCL's count was that.")

(defun all-packages ()
  "LIST-ALL-PACKAGES; the same list again as long as no package has come, gone or changed its names."
  #+sbcl
  (let ((count sbcl:*package-names-cookie*) (known *all-packages*)) ; the count first: a package may come now
    (cdr (if (and count (eql count (car known)))
             known
             (setf *all-packages* (cons count (list-all-packages))))))
  #-sbcl (list-all-packages))

;;; Each session has its own variables of the reader, the printer and the REPL.  What its code
;;; assigns to them lasts, and nobody else in the image notices.

(eval-when (:compile-toplevel :load-toplevel :execute)

  (defparameter *repl-variables* '(* ** *** / // /// + ++ +++ -))

  (defparameter *syntax-variables*
    '(*readtable* *read-base* *read-default-float-format* *read-eval*
      *print-array* *print-base* *print-case* *print-circle* *print-escape* *print-gensym*
      *print-length* *print-level* *print-lines* *print-miser-width* *print-pprint-dispatch*
      *print-pretty* *print-radix* *print-readably* *print-right-margin*
      *default-pathname-defaults* *break-on-signals*))

  (defparameter *session-variables* (append *repl-variables* *syntax-variables*)))

(defmacro with-session-variables ((values) &rest body)
  "Evaluate BODY with VALUES for the session's variables.  PROGV takes ten times as long, because it
does not know the variables."
  (let ((rest (gensym)))
    `(let ((,rest ,values))
       (let ,(loop for variable in *session-variables* collect `(,variable (pop ,rest)))
         ,@body))))

(defun initial-values ()
  (append (mapcar (constantly nil) *repl-variables*)
          (loop for variable in *syntax-variables*
                collect (case variable
                          ;; these are copied because both are often changed in place
                          (*readtable* (copy-readtable *readtable*))
                          (*print-pprint-dispatch* (copy-pprint-dispatch))
                          ;; a person who debugs does not debug our sessions
                          (*break-on-signals* nil)
                          (t (symbol-value variable))))))

(defstruct (session (:constructor make-session (name)) (:copier nil))
  name
  (package (find-package '#:common-lisp-user))
  (package-chosen nil)                  ; true once IN-PACKAGE was in an evaluation's code
  (package-name "COMMON-LISP-USER")     ; known also when the package was deleted
  (values (initial-values))
  (readtable nil)                       ; the first of those VALUES
  (definitions (make-shared-table))     ; (KIND . NAME) to ENTRY, see definitions.lisp
  (candidates (make-shared-table 'eq))  ; form to CANDIDATE, see candidates.lisp
  (direct-definitions (make-shared-table)) ; key to (IDENTITY FILE TOPLEVEL NUMBER); what
                                        ; functions defined without a defining form
  (replaced (make-shared-table))        ; what it has redefined, see replaced.lisp
  (assigned '())                        ; symbols without a value that SETF was to give one
  (gone '())                            ; KEY-TEXTs of what is undefined now
  (undefinitions *undefinitions*)       ; the count when GONE was last updated
  (definition-count 0)
  (journal '())                         ; entries for the next answer, see people/undo.lisp
  (packages '())                        ; that its code made
  (files '())                           ; names of those that it has loaded itself
  (package-forms '())                   ; (PACKAGE . FORM) of those, see packages.lisp
  (package-names '())                   ; that these and those that are gone had
  (package-changes 0)                   ; the count when packages were last compared
  (features *features*)                 ; when they were last compared
  (first-features *features*)           ; at the session's beginning
  (first-syntax (copy-readtable *readtable*)) ; its readtable at the beginning
  (readtable-changes 0)                 ; the count when the readtable was last compared
  (readtable-why nil)                   ; why its readtable will be lost, or NIL
  (known-packages (all-packages))  ; all packages after its last evaluation
  (systems '())                         ; that it loaded, newest first
  (last-error nil)                      ; see last-error.lisp
  (departed '())                        ; suspended evaluations that ended by themselves
  (news '())                            ; for its next reply, newest first; see session-threads.lisp
  (news-left-out 0)
  (callers '())                         ; (GUEST CLIENT TOOL PERSONP): whose calls it answers; see BY
  (used nil)                            ; true once something was evaluated in it
  (before-load nil))                    ; record of the packages while a system is loaded

;;; While an evaluation is suspended others run.  So an evaluation writes back to its session only
;;; the values that it has changed since it last did so.  Its values of * + and / move those of the
;;; others down.

(defvar *snapshot* nil
  "The SNAPSHOT of the current evaluation.")

(defstruct (snapshot (:constructor make-snapshot (package own &aux (session own))) (:copier nil))
  "The state of an evaluation when it last read its session or wrote back to it: its PACKAGE, its
OWN values of the session's variables, and those that the SESSION had then."
  package own session)

(defun write-back (session snapshot)
  "Write the values of the session's variables back to SESSION.  Called where they are bound."
  (unless (and (eq *package* (snapshot-package snapshot)) (not (session-package-chosen session)))
    ;; a deleted package has no name; LIVE-PACKAGE deals with it
    (if (package-name *package*)
        (enter-package session *package*)
        (setf (session-package session) *package*)))
  (let ((now (mapcar #'symbol-value *session-variables*))
        (theirs (session-values session)))
    (setf (session-values session)
          (if (and (eq theirs (snapshot-session snapshot)) (eq theirs (snapshot-own snapshot)))
              now
              (merged-values (snapshot-own snapshot) now theirs)))
    (setf (session-package-chosen session) nil
          (snapshot-package snapshot) *package*
          (snapshot-own snapshot) now
          (snapshot-session snapshot) (session-values session))))

(defun merged-values (before now theirs)
  (let ((new (not (eq (nth 3 before) (nth 3 now))))) ; the list of values, /
    (append (loop for (is) on now by #'cdddr
                  for (newest second third) on theirs by #'cdddr
                  repeat 3              ; * ** ***, / // ///, + ++ +++
                  append (if new (list is newest second) (list newest second third)))
            (mapcar (lambda (was is its) (if (eq was is) its is))
                    (nthcdr 9 before) (nthcdr 9 now) (nthcdr 9 theirs)))))

(defun session-variable (session variable)
  "The value that SESSION's code sees in one of *SESSION-VARIABLES*."
  (nth (position variable *session-variables*) (session-values session)))

(defun ensure-session (name)
  (with-lock ()
    (or (gethash name *sessions*)
        (let ((session (make-session name)))
          (setf (session-readtable session) (session-variable session '*readtable*)
                (gethash name *sessions*) session)))))

;;; Packages

(defun find-package-named (designator)
  "The package with that name or nickname; else, as people write lower case, with its upper case."
  (let ((name (string-left-trim "#:" designator)))
    (or (find-package designator)
        (find-package (string-upcase name)))))

(defun user-package ()
  "COMMON-LISP-USER, made again if somebody has deleted it."
  (declare (notinline find-package))    ; it would return a cached package, even a deleted one
  (or (find-package '#:common-lisp-user)
      (make-package '#:common-lisp-user :nicknames '(#:cl-user) :use '(#:common-lisp))))

(defun note-package-name (session package)
  (setf (session-package-name session) (package-name package)))

(defun enter-package (session package)
  (setf (session-package-name session) (package-name package)
        (session-package session) package))

(defun live-package (session)
  "The session's package; if that was deleted, COMMON-LISP-USER and a note that says so."
  (let ((package (session-package session)))
    (if (package-name package)
        package
        (let ((note (deleted-package-note session)))
          (values (enter-package session (user-package)) note)))))

(defun deleted-package-note (session)
  (format nil "The package ~A was deleted; the session is back in COMMON-LISP-USER."
          (session-package-name session)))

(defun similar-package-names (name)
  "The names of at most three packages like NAME."
  (let ((name (string-upcase name)) (near '()))
    (dolist (package (list-all-packages))
      (dolist (candidate (cons (package-name package) (package-nicknames package)))
        (let ((distance (if (search name candidate) 1 (name-distance name candidate))))
          (when (<= distance (if (< (length name) 3) ; QL is not meant for CL
                                 0
                                 (max 1 (floor (length name) 3))))
            (push (cons distance (package-name package)) near)))))
    (first-few (remove-duplicates (mapcar #'cdr (stable-sort near #'< :key #'car))
                                  :test #'string= :from-end t)
               3)))

(defun unknown-package-text (name)
  (format nil "The name ~S does not designate any package.~@[~%Near it: ~{~A~^, ~}.~]"
          (string-upcase name) (similar-package-names name)))

;;; News for the next reply

(defparameter *max-news* 10
  "How many pieces of news a session keeps for its next reply.")

(defun note-news (session text)
  "Have the next reply of SESSION say TEXT."
  (with-lock ()
    (if (< (length (session-news session)) *max-news*)
        (push text (session-news session))
        (incf (session-news-left-out session)))))

(defun take-news (session)
  "The news for this reply of SESSION, oldest first."
  (when (session-news session)
    (with-lock ()
      (let ((left-out (shiftf (session-news-left-out session) 0)))
        (append (reverse (shiftf (session-news session) '()))
                (and (plusp left-out)
                     (list (format nil "~D more of that kind ~[~;has~:;have~] been left out."
                                   left-out left-out))))))))
;;;; shown.lisp -- errors that a person shows to the agents while they are in their debugger

(cl:in-package #:swank-mcp)

;;; For get-backtrace and inspect-frame such an error is a suspended evaluation; nothing else can be
;;; done with it.  It is there as long as the person's thread is in the debugger with it.  See
;;; people/show.lisp.

(defstruct (shown-error (:copier nil))
  token                                 ; as of a thread of the program: negative
  thread condition level               ; of the debugger
  report frames                         ; as of a DEBUGGEE
  (at (microseconds)))

(defvar *shown-errors* '()
  "Newest first; some may be over.")

(defun debugger-level (thread)
  "How many levels of Swank's debugger THREAD is in."
  #+sbcl (or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread nil) 0)
  #-sbcl (progn thread 0))

(defun shown-live-p (shown)
  "True while the person is in the debugger with the error SHOWN, or in a deeper level of it."
  #+sbcl
  (let* ((thread (shown-error-thread shown)) (level (debugger-level thread)))
    (or (> level (shown-error-level shown))
        (and (= level (shown-error-level shown))
             (eq (shown-error-condition shown)
                 (sb-thread:symbol-value-in-thread 'swank::*swank-debugger-condition* thread nil)))))
  #-sbcl (progn shown nil))

(defun live-shown-errors ()
  (let ((over (remove-if #'shown-live-p (with-lock () *shown-errors*))))
    (with-lock ()
      (setf *shown-errors* (remove-if (lambda (shown) (member shown over)) *shown-errors*)))))

(defun find-shown-error (token)
  (find token (live-shown-errors) :key #'shown-error-token))
;;;; threads.lisp -- names and roles of threads; threads that a session's code has started

(cl:in-package #:swank-mcp)

(defun thread-number (thread)
  "Swank's number for THREAD while it lives.  Newer Swanks take the system's, which a thread
that has just begun or ended does not have: then it is 0."
  (or (swank/backend:thread-id thread) 0))

(defun thread-label (thread)
  (let ((name (swank/backend:thread-name thread)))
    (clip (if (stringp name) name (princ-to-string name)) 80)))

(defun thread-evaluation (thread)
  (with-lock () (find thread *evaluations* :key #'evaluation-thread)))

(defun main-thread-p (thread)
  #+sbcl (eq thread (sb-thread:main-thread)) #-sbcl (progn thread nil))

(defun thread-role (thread)
  "(VALUES ROLE TEXT): ROLE is :MAIN, :SESSION, :BRIDGE, :SWANK, :SYSTEM or :USER; TEXT says
so in words."
  (let ((name (thread-label thread)))
    (cond ((main-thread-p thread) (values :main "the image's main thread"))
          ((thread-evaluation thread)
           (if (thread-of-program-p (thread-evaluation thread))
               (values :user "the program's, suspended at an error")
               (values :session "a session's, busy")))
          ((starts-with "swank-mcp session" name) (values :session "a session's, idle"))
          ((starts-with "swank-mcp" name) (values :bridge "the bridge's"))
          ((swank-thread-p thread name) (values :swank "Swank's"))
          ((string= name "finalizer")
           (values :system "the Lisp system's"))
          (t (values :user "the program's")))))

(defun swank-thread-p (thread name)
  (or (find name '("Swank Sentinel" "reader-thread" "control-thread" "auto-flush-thread"
                   "swank-indentation-cache-thread" "repl-thread")
            :test #'string=)
      (starts-with "Swank " name)
      ;; programs use this name as well
      (and (string= name "worker") (swank-worker-p thread))))

(defun swank-worker-p (thread)
  (let ((threads (named-function '#:swank "MCONN.ACTIVE-THREADS")))
    (and threads
         (some (lambda (connection) (find thread (ignore-errors (funcall threads connection))))
               swank::*connections*))))

#+sbcl
(defun ask-thread (thread function)
  "(VALUES RESULT STATE): what FUNCTION returns when THREAD is interrupted with it.  STATE is
:ANSWERED, :SILENT if it takes longer than half a second, or :ENDED."
  (let ((result nil) (done (sb-thread:make-semaphore)))
    (handler-case
        (interrupt-safely thread
                          (lambda ()
                            (setf result (funcall function))
                            (sb-thread:signal-semaphore done))
                          :forcep nil)
      (error () (return-from ask-thread (values nil :ended))))
    (if (sb-thread:wait-on-semaphore done :timeout 1/2)
        (values result :answered)
        (values nil :silent))))

;;; Threads that a session's code has started: see session-threads.lisp

#+sbcl
(defstruct (session-thread (:copier nil))
  "A THREAD that code of SESSION started.  BASE is the heap's use in bytes at that time."
  thread session base (stopped nil))

#+sbcl
(defvar *session-threads* '()
  "The SESSION-THREADs that may still be alive.")

#+sbcl
(defun thread-words (&optional (thread sb-thread:*current-thread*))
  (format nil "~:[A thread without a name~;The thread ~:*~S~], which this session's code has started,"
          (and (sb-thread:thread-name thread) (thread-label thread))))

#+sbcl
(defun live-session-threads ()
  (with-lock ()
    (setf *session-threads*
          (delete-if-not (lambda (known) (sb-thread:thread-alive-p (session-thread-thread known)))
                         *session-threads*))
    (copy-list *session-threads*)))
