;;;; reload.lisp -- RELOAD-CHANGED: loading what was saved since it was loaded

(cl:in-package #:swank-mcp)

(defvar *reload-failed-p* nil
  "True if the last RELOAD-CHANGED has not come to its end.")

(defun changed-unit-p (unit)
  "True if the file of UNIT has changed since it was loaded.  One that was never loaded has not: it
is for another Lisp, or its definition has changed as well."
  (let ((old (gethash (unit-key unit) *fingerprints*)) (new (unit-fingerprint unit))
        (loaded (loaded-unit-p unit)))
    (if old
        (and (changed-p (unit-file unit) old new)
             ;; other comments are no reason to take the session's definitions away
             (or *reload-failed-p*
                 (null (loaded-file (unit-file unit)))
                 (changed-since-loaded-p (unit-file unit))))
        ;; somebody else loaded it, for whom ASDF noted the time
        (and (integerp loaded) (> (fingerprint-time new) loaded)))))

(defun definition-changed-p (name)
  "True if the file that defines the system NAME has changed since it was read."
  (let* ((file (definition-file (primary-name name)))
         (old (and file (definition-fingerprint file)))
         (new (and old (take-fingerprint file))))
    (and new (changed-p file old new))))

(defun changed-systems (names)
  "Those of the systems NAMES whose files or definitions have changed since they were loaded."
  (remove-if-not (lambda (name)
                   (or (definition-changed-p name)
                       (other-files-p name)
                       (some #'changed-unit-p (system-units name))))
                 names))

(defun outermost-systems (names)
  "Those of the systems NAMES that none of the others depends on: loading them loads all."
  (remove-if (lambda (name)
               (some (lambda (other) (and (string/= other name) (depends-on-p other name)))
                     names))
             names))

(defun record-key (key)
  "The key in *ORIGINS* of KEY, the session's, which is defined."
  (if (eq (car key) :method)
      (let ((method (first (methods-designated (cdr key)))))
        (and method (method-key method)))
      (namespace-of key)))

(defun live-texts (session)
  "((KEY ENTRY RECORD-KEY TEXT) ...) of what SESSION has defined by evaluations."
  (loop for (key . entry) in (own-entries session)
        for record-key = (ignore-errors (record-key key))
        for text = (and record-key (nth-value 1 (object-place (definition-object record-key))))
        when text collect (list key entry record-key text)))

(defun replaced-by-files (live)
  "The labels of those of LIVE, see LIVE-TEXTS, that a file has replaced by something else."
  (loop for (key entry record-key text) in live
        for origin = (gethash record-key *origins*)
        when (and origin
                  (not (still-made-p key entry))
                  (multiple-value-bind (form definingp source) (live-form text record-key)
                    (declare (ignore definingp))
                    (not (and form
                              (or (eql (source-form-code form) (origin-code origin))
                                  (same-read-p form source (origin-form origin)
                                               (origin-version origin)))))))
          collect (label-of record-key)))

(defun reload-changed (&key (session "default") (token 0))
  "Load the project's loaded systems again of which files have been saved since, with the loaded
systems of the project that depend on them.  The answer is EVALUATE's with
  :REPORT (:SYSTEMS (NAME ...) :REPLACED (LABEL ...))
of those that had changed, and of the session's definitions that are the files' again."
  (call-as-work
   (lambda (evaluation read)
     (declare (ignore read))
     (when (find-package '#:asdf)
       (let* ((loaded (loaded-project-systems))
              (live (live-texts (evaluation-session evaluation)))
              (changed (changed-systems loaded))
              (affected (remove-if-not (lambda (name)
                                         (some (lambda (other)
                                                 (or (string= name other) (depends-on-p name other)))
                                               changed))
                                       loaded)))
         (report-with evaluation (lambda () (list :systems changed :replaced (replaced-by-files live))))
         (setf *reload-failed-p* t)
         (dolist (name (outermost-systems affected))
           (load-named-system name :quietly t))
         (when affected (note-project-state nil :kinds '(:not-again)))
         (setf *reload-failed-p* nil)))
     '())
   :code '(reload-changed) :session session :token token))
