;;;; journal.lisp -- the source of what a session has defined, for another image

(cl:in-package #:swank-mcp)

;;; The bridge keeps the source of each definition, to bring the session back
;;; when its image has died.  What is handed out for that must be safe to
;;; evaluate again: definitions, packages, declarations; never code that merely
;;; contains a definition.  Of a top level form only those parts are kept that have
;;; defined something, in the bindings and local macros that surround them.

(defparameter *package-operators*
  '(defpackage use-package unuse-package import export unexport shadow
    shadowing-import rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package)
  "Operators whose calls at top level change packages.")

(defparameter *package-makers* '(defpackage rename-package delete-package)
  "Those whose package may be the current one, and so is not there to read them in.")

(defparameter *declaring-operators* '(declaim proclaim require))

(defun loading-call-p (form)
  "True of (ASDF:LOAD-SYSTEM ...) and (QL:QUICKLOAD ...)."
  (and (symbolp (first form))
       (first form)
       (member (symbol-name (first form)) '("LOAD-SYSTEM" "QUICKLOAD") :test #'string=)
       (implementation-or-loader-p (symbol-package (first form)))))

(defun implementation-or-loader-p (package)
  (and package
       (find-if (lambda (prefix) (eql 0 (search prefix (package-name package))))
                '("ASDF" "QL" "QUICKLISP"))))

(defun defining-call-p (form)
  "True of a form that does nothing but define: a defining operator's, or a call
of a macro of the user's that expanded to definitions."
  (or (assoc (first form) *defining-operators*)
      (user-macro-p (first form))))

(defun users-package-p (designator)
  "False of packages without which no image works, and of what is no name."
  (let ((name (cond ((and (consp designator) (eq (first designator) 'quote)) (second designator))
                    (t designator))))
    (and name
         (typep name '(or symbol string))
         (notany (lambda (prefix) (eql 0 (search prefix (string name))))
                 '("SWANK" "SB-" "COMMON-LISP" "CL" "KEYWORD" "ASDF" "UIOP")))))

(defun declaring-call-p (form)
  "True of a form that changes packages or declares, and so belongs in the journal.
That a package of the session's is gone is known without its DELETE-PACKAGE."
  (let ((operator (first form)))
    (cond ((eq operator 'delete-package)
           (and (users-package-p (second form))
                (not (and *noting* (own-package-name-p *noting* (second form))))))
          ((eq operator 'rename-package) (users-package-p (second form)))
          (t (or (member operator *package-operators*)
                 (member operator *declaring-operators*))))))

;;; Entries

(defun key-text (session key)
  "KEY, (KIND . NAME), as the bridge compares it; remembered for the day when the
name has lost its package."
  (let ((text (call-with-listing-syntax
               (lambda ()
                 (let ((*print-length* nil) (*print-level* nil)) ; all that tells two apart
                   (safely (prin1-to-string key))))))
        (entry (gethash key (session-definitions session))))
    (when entry (setf (entered-text entry) text))
    text))

(defun form-source (form package)
  "FORM printed so that it can be read again in PACKAGE; NIL if it cannot."
  (with-standard-io-syntax
    ;; prettily, because then SBCL prints a backquote and not what it has read for one
    (let ((*package* package) (*print-circle* t)
          (*print-pretty* t) (*print-right-margin* 100) (*print-miser-width* nil))
      (ignore-errors (prin1-to-string form)))))

(defun standard-syntax-p (session text)
  "False if TEXT, which this session has read, may mean something else elsewhere."
  (and (not (search "#." text))
       (or (equal *features* (session-first-features session))
           (not (or (search "#+" text) (search "#-" text))))
       (eql *read-base* 10)
       (eq *read-default-float-format* 'single-float)
       (eq *readtable* (session-readtable session))
       (not (readtable-changed-p session))))

(defun declaration-key-text (form text)
  "The key of a FORM that declares something, whose source is TEXT."
  (if (eq (first form) 'defpackage)
      (package-key (string (second form)))
      (with-standard-io-syntax (prin1-to-string (cons :form text)))))

(defun journal-entry (session keys form text toplevel runsp)
  "(KEYS TEXT PACKAGE-NAME MILLISECONDS RUNSP BRIDGEP): how long TOPLEVEL has taken,
whether evaluating TEXT again runs more of the user's code than the definitions, and
whether it changes what the bridge stands on."
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

(defvar *entered* '()
  "The candidates that have got an entry.")

(defun toplevel-entries (session toplevel fired)
  "What TOPLEVEL leaves, whose candidates FIRED have made definitions: entries, and
((CANDIDATE . WHY) ...) of those that have no source."
  (let ((*losses* '()) (*entered* '()) (entries '()))
    (when (and toplevel (toplevel-form toplevel) (not (toplevel-settledp toplevel)))
      (let ((*fired* (place-candidates (toplevel-form toplevel) fired))
            (*endedp* (toplevel-endedp toplevel)))
        (setf entries (form-entries session toplevel (toplevel-form toplevel) t))))
    ;; what a function has defined that the form calls, or that was defined later
    (dolist (candidate fired)
      (unless (or (member candidate *entered*) (assoc candidate *losses*))
        (setf entries (append entries (single-entry session candidate)))))
    (values entries *losses*)))

(defun toplevel-source (session toplevel)
  "The source of TOPLEVEL as it was written, unless another image may read it otherwise."
  (let ((text (toplevel-text toplevel)))
    (and text (standard-syntax-p session text) text)))

(defun single-entry (session candidate)
  "The entry of CANDIDATE by itself, without what surrounds it."
  (let ((form (or-loss candidate '() (candidate-source candidate))))
    (and form (printed-entry session (list candidate) form (candidate-toplevel candidate)))))

(defun entry-of (session candidates form text toplevel)
  (setf *entered* (append candidates *entered*))
  (journal-entry session (mapcar #'candidate-key candidates) form text toplevel
                 (or (user-macro-p (first form)) (member (first form) *binding-operators*))))

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
        (multiple-value-bind (kept candidates) (kept-part form '())
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
