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
