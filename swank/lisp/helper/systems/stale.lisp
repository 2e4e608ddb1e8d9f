;;;; stale.lisp -- files of a system that have changed since they were loaded

(cl:in-package #:swank-mcp)

;;; Before a system is built, each file is compared with its fingerprint.  If it has changed, its
;;; fasl gets an old date, and ASDF forgets that it is loaded.  ASDF does the rest, also for the
;;; files that depend on it.

(defstruct (unit (:copier nil))
  "A source file of a system, with its FINGERPRINT before building."
  component system file fingerprint)

(defun unit-key (unit) (cons (unit-system unit) (unit-file unit)))

(defun system-with-dependencies (name)
  "NAME and the names of all systems that it needs, as far as ASDF finds them."
  (let ((seen (make-hash-table :test 'equal)) (names '()))
    (labels ((visit (name)
               (unless (or (gethash name seen) (asdf-itself-p name))
                 (setf (gethash name seen) t)
                 ;; building the system signals the same error again
                 (when (ignore-errors (find-defined name))
                   (mapc #'visit (direct-dependencies name))
                   (push name names)))))
      (visit name))
    names))

(defun call-with-sources (name function)
  "CALL-WITH-FILES of those of the system NAME that are source files."
  (call-with-files name (lambda (component file)
                          (unless (component-type-p component "STATIC-FILE")
                            (funcall function component file)))))

(defun source-files (name)
  "The source files of the system NAME, which need not be there."
  (let ((files '()))
    (call-with-sources name (lambda (component file) (declare (ignore component)) (push file files)))
    (nreverse files)))

(defun system-units (name)
  "The units of the system NAME, with their fingerprints."
  (let ((units '()))
    (call-with-sources name
                       (lambda (component file)
                         (let ((fingerprint (take-fingerprint file)))
                           (when fingerprint
                             (push (make-unit :component component :system name
                                              :file (native-name file) :fingerprint fingerprint)
                                   units)))))
    (nreverse units)))

(defun operation (name)
  (call-named '#:asdf "MAKE-OPERATION" (find-symbol name '#:asdf)))

(defun loaded-unit-p (unit)
  (asdf-value "COMPONENT-OPERATION-TIME" (operation "LOAD-OP") (unit-component unit)))

(defun forget-loaded (unit)
  "Have ASDF forget that UNIT is loaded."
  (let ((times (asdf-value "COMPONENT-OPERATION-TIMES" (unit-component unit)))
        (operation (operation "LOAD-OP")))
    (when (hash-table-p times)
      (remhash operation times)
      (remhash (type-of operation) times)))) ; the key of older versions

(defvar *plain-translations* nil
  "While a system is compiled apart from its fasls, ASDF's translations to these; else NIL.")

(defun unit-outputs (unit)
  (flet ((outputs () (asdf-value "OUTPUT-FILES" (operation "COMPILE-OP") (unit-component unit))))
    (if *plain-translations*
        (progv (list (find-symbol "*OUTPUT-TRANSLATIONS*" '#:asdf/output-translations))
            (list *plain-translations*)
          (outputs))
        (outputs))))

(defvar *built-apart* (make-shared-table)
  "The keys of the units that the image has from fasls that are gone.")

(defun note-built-apart (names)
  "The project's units of the systems NAMES, and of those that they need, were compiled apart."
  (let ((own (own-directories (first names))))
    (dolist (system (remove-duplicates (mapcan #'system-with-dependencies names) :test #'string=))
      (when (member (definition-directory (definition-file (primary-name system))) own :test #'equal)
        (dolist (unit (system-units system))
          (setf (gethash (unit-key unit) *built-apart*) t))))))

(defun backdate (file)
  "Make FILE, compiled from another version, older than any source.  If that is not permitted, ASDF
could not write it either."
  (ignore-errors
   #+sbcl (sb-posix:utimes (native-name file) 1 1)
   #-sbcl (delete-file file)))

(defun outdate (unit)
  (mapc #'backdate (unit-outputs unit))
  (when (loaded-unit-p unit) (forget-loaded unit)))

(defun check-unit (unit)
  "Have ASDF build UNIT if it has changed since it was last built."
  (let ((old (gethash (unit-key unit) *fingerprints*)) (new (unit-fingerprint unit)))
    (if old
        (when (changed-p (unit-file unit) old new) (outdate unit))
        ;; Another image may have compiled it in the second in which it was written again.
        (let ((compiled (loop for output in (unit-outputs unit)
                              for time = (nth-value 1 (ignore-errors (file-size-and-time output)))
                              when time minimize time into earliest
                                and collect time into times
                              finally (return (and times earliest)))))
          (when (and compiled (= (fingerprint-time new) compiled)) (outdate unit))))))

(defun forget-built-apart (units)
  "Have ASDF load again those of UNITS that were built apart."
  (dolist (unit units)
    (when (remhash (unit-key unit) *built-apart*)
      (forget-loaded unit))))

(defun outdate-for-others (names)
  "Have plain ASDF, which may load the systems NAMES next, compile what has changed since we built
it."
  (dolist (system (remove-duplicates (mapcan #'system-with-dependencies names) :test #'string=))
    (dolist (unit (system-units system))
      (let ((old (gethash (unit-key unit) *fingerprints*)))
        (when (and old (changed-p (unit-file unit) old (unit-fingerprint unit)))
          (mapc #'backdate (unit-outputs unit)))))))

(defun units-gone (units systems)
  "The files that were units of SYSTEMS and are not among UNITS any more."
  (let ((now (make-hash-table :test 'equal)) (gone '()))
    (dolist (unit units) (setf (gethash (unit-file unit) now) t))
    (with-shared-table (*fingerprints*)
      (maphash (lambda (key fingerprint)
                 (declare (ignore fingerprint))
                 (when (and (member (car key) systems :test #'equal)
                            (not (gethash (cdr key) now)))
                   (push (cdr key) gone)))
               *fingerprints*))
    gone))

(defvar *files-when-built* (make-shared-table)
  "Names of systems to the names of their source files when they were last built.")

(defun note-files-built (names)
  (dolist (name names)
    (setf (gethash name *files-when-built*) (mapcar #'native-name (source-files name)))))

(defun other-files-p (name)
  "True if the system NAME has other source files than when it was last built: ASDF may have read its
definition since."
  (multiple-value-bind (files builtp) (gethash name *files-when-built*)
    (and builtp
         (not (equal files (mapcar #'native-name (source-files name)))))))

(defun remember-built (units name since)
  "Remember the fingerprints of what ASDF has loaded of the system NAME, which was built from the
time SINCE on: of UNITS those from before, and those of units that were found only in building,
unless they were written meanwhile.  Building may have made new components for UNITS."
  (let ((before (make-hash-table :test 'equal)))
    (dolist (unit units) (setf (gethash (unit-key unit) before) (unit-fingerprint unit)))
    (dolist (system (system-with-dependencies name))
      (dolist (unit (system-units system))
        (when (loaded-unit-p unit)
          (let* ((key (unit-key unit)) (fingerprint (gethash key before)))
            (cond (fingerprint (setf (gethash key *fingerprints*) fingerprint))
                  ((and (not (gethash key *fingerprints*))
                        (< (fingerprint-time (unit-fingerprint unit)) since))
                   (setf (gethash key *fingerprints*) (unit-fingerprint unit))))))))))

(defun call-seeing-changes (name build)
  "Call BUILD, which builds the system NAME, after outdating what has changed."
  (let* ((since (get-universal-time))
         (systems (system-with-dependencies name))
         (units (mapcan #'system-units systems))
         (gone (units-gone units systems)))
    (mapc #'check-unit units)
    (forget-built-apart units)
    (unwind-protect (funcall build)
      (remember-built units name since))
    (note-files-built systems)
    (dolist (file gone)
      (dolist (system systems) (remhash (cons system file) *fingerprints*)))))
