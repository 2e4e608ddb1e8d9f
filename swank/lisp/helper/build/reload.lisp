;;;; reload.lisp -- RELOAD-CHANGED: loading what was saved since it was loaded

(cl:in-package #:swank-mcp)

(defun changed-unit-p (unit)
  "True if the file of UNIT has changed since it was loaded, or is new."
  (let ((old (gethash (unit-key unit) *fingerprints*)) (new (unit-fingerprint unit)))
    (cond (old (changed-p (unit-file unit) old new))
          ;; somebody else loaded it, for whom ASDF noted the time
          ((loaded-unit-p unit)
           (> (fingerprint-time new) (asdf-value "COMPONENT-OPERATION-TIME" (operation "LOAD-OP")
                                                 (unit-component unit))))
          (t t))))

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
                       (some #'changed-unit-p (system-units name))))
                 names))

(defun outermost-systems (names)
  "Those of the systems NAMES that none of the others depends on: loading them loads all."
  (remove-if (lambda (name)
               (some (lambda (other) (and (string/= other name) (depends-on-p other name)))
                     names))
             names))

(defun reload-changed (&key (session "default") (token 0))
  "Load the project's loaded systems again of which files have been saved since, with the loaded
systems of the project that depend on them.  The answer is EVALUATE's with
  :REPORT (:SYSTEMS (NAME ...))
of those that had changed."
  (call-as-work
   (lambda (evaluation read)
     (declare (ignore read))
     (when (find-package '#:asdf)
       (let* ((loaded (loaded-project-systems))
              (changed (changed-systems loaded))
              (affected (remove-if-not (lambda (name)
                                         (some (lambda (other)
                                                 (or (string= name other) (depends-on-p name other)))
                                               changed))
                                       loaded)))
         (report-with evaluation (lambda () (list :systems changed)))
         (dolist (name (outermost-systems affected))
           (load-named-system name :quietly t))))
     '())
   :code '(reload-changed) :session session :token token))
