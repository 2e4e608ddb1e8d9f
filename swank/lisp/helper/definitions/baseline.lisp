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
