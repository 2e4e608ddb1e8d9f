;;;; stale.lisp -- which files of a system are other ones than when they were loaded

(cl:in-package #:swank-mcp)

;;; Before a system is built, of each file that differs from its mark the fasl is made
;;; old and ASDF's note that it is loaded is taken back; the rest, and what depends on it,
;;; is ASDF's.

(defstruct (unit (:copier nil))
  "A source file of a system, with its MARK before building.  STALEP is true if its
code is in the image, but of another version."
  component system file mark stalep)

(defun unit-key (unit) (cons (unit-system unit) (unit-file unit)))

(defun systems-needed (name)
  "The names of NAME and of all systems that it needs, as far as ASDF finds them."
  (let ((seen (make-hash-table :test 'equal)) (names '()))
    (labels ((visit (name)
               (unless (or (gethash name seen) (asdf-itself-p name))
                 (setf (gethash name seen) t)
                 ;; an error is met again when the system is built
                 (when (ignore-errors (find-defined name))
                   (mapc #'visit (needed-systems name))
                   (push name names)))))
      (visit name))
    names))

(defun system-units (name)
  "The units of the system NAME, with marks."
  (let ((units '())
        (module (find-symbol "MODULE" '#:asdf)) (data (find-symbol "STATIC-FILE" '#:asdf)))
    (labels ((walk (component)
               (cond ((typep component module)
                      (mapc #'walk (asdf-value "COMPONENT-CHILDREN" component)))
                     ((not (typep component data))
                      (let* ((file (asdf-value "COMPONENT-PATHNAME" component))
                             (mark (and file (mark-file file))))
                        (when mark
                          (push (make-unit :component component :system name
                                           :file (native-name file) :mark mark)
                                units)))))))
      (walk (asdf-value "REGISTERED-SYSTEM" name)))
    (nreverse units)))

(defun operation (name)
  (call-named '#:asdf "MAKE-OPERATION" (find-symbol name '#:asdf)))

(defun loaded-unit-p (unit)
  (asdf-value "COMPONENT-OPERATION-TIME" (operation "LOAD-OP") (unit-component unit)))

(defun forget-loaded (unit)
  "Let ASDF load UNIT again."
  (let ((times (asdf-value "COMPONENT-OPERATION-TIMES" (unit-component unit)))
        (operation (operation "LOAD-OP")))
    (when (hash-table-p times)
      (remhash operation times)
      (remhash (type-of operation) times)))) ; the key of older versions

(defun unit-outputs (unit)
  (asdf-value "OUTPUT-FILES" (operation "COMPILE-OP") (unit-component unit)))

(defun make-old (file)
  "Let FILE, which was compiled from something else, be older than any source.  Where
that may not be done, ASDF could not write another one either."
  (ignore-errors
   #+sbcl (sb-posix:utimes (native-name file) 1 1)
   #-sbcl (delete-file file)))

(defun outdate (unit)
  (mapc #'make-old (unit-outputs unit))
  (when (loaded-unit-p unit)
    (setf (unit-stalep unit) t)
    (forget-loaded unit)))

(defun check-unit (unit)
  "Have ASDF build UNIT if it is another one than when it was last built."
  (let ((old (gethash (unit-key unit) *marks*)) (new (unit-mark unit)))
    (if old
        (when (changed-p (unit-file unit) old new) (outdate unit))
        ;; Another image may have compiled it, before it was written again in that
        ;; second.
        (let ((compiled (loop for output in (unit-outputs unit)
                              for time = (nth-value 1 (ignore-errors (file-size-and-time output)))
                              when time minimize time into earliest
                                and collect time into times
                              finally (return (and times earliest)))))
          (cond ((null compiled))
                ((= (mark-time new) compiled) (outdate unit))
                ((> (mark-time new) compiled) (setf (unit-stalep unit) (loaded-unit-p unit))))))))

(defun outdate-for-others (names)
  "Let whoever loads the systems NAMES next by plain ASDF compile what has changed
since we built it."
  (dolist (system (remove-duplicates (mapcan #'systems-needed names) :test #'string=))
    (dolist (unit (system-units system))
      (let ((old (gethash (unit-key unit) *marks*)))
        (when (and old (changed-p (unit-file unit) old (unit-mark unit)))
          (mapc #'make-old (unit-outputs unit)))))))

(defun units-gone (units systems)
  "The files that were units of SYSTEMS and are no UNITS any more."
  (let ((now (make-hash-table :test 'equal)) (gone '()))
    (dolist (unit units) (setf (gethash (unit-file unit) now) t))
    (with-shared-table (*marks*)
      (maphash (lambda (key mark)
                 (declare (ignore mark))
                 (when (and (member (car key) systems :test #'equal)
                            (not (gethash (cdr key) now)))
                   (push (cdr key) gone)))
               *marks*))
    gone))

(defun remember-built (units name since)
  "The system NAME was built SINCE a time, as far as ASDF has loaded it: remember the
marks that UNITS had before, and those of what was found only in building it, unless
written meanwhile.  Building may have replaced the components of UNITS by others."
  (let ((before (make-hash-table :test 'equal)))
    (dolist (unit units) (setf (gethash (unit-key unit) before) (unit-mark unit)))
    (dolist (system (systems-needed name))
      (dolist (unit (system-units system))
        (when (loaded-unit-p unit)
          (let* ((key (unit-key unit)) (mark (gethash key before)))
            (cond (mark (setf (gethash key *marks*) mark))
                  ((and (not (gethash key *marks*)) (< (mark-time (unit-mark unit)) since))
                   (setf (gethash key *marks*) (unit-mark unit))))))))))

(defun call-seeing-changes (name build)
  "Call BUILD, which builds the system NAME, after telling ASDF what has changed; note
what is left of definitions that their files no longer have."
  (let* ((since (get-universal-time))
         (systems (systems-needed name))
         (units (mapcan #'system-units systems))
         (gone (units-gone units systems)))
    (mapc #'check-unit units)
    (let ((before (definitions-from
                   (append gone (mapcar #'unit-file (remove-if-not #'unit-stalep units))))))
      (unwind-protect (funcall build)
        (remember-built units name since))
      (dolist (file gone)
        (dolist (system systems) (remhash (cons system file) *marks*)))
      (note-left before gone (append gone (mapcar #'unit-file units))))))
