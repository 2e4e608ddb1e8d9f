;;;; packages.lisp -- exports of packages, structures and definitions of systems that differ

(cl:in-package #:swank-mcp)

(defun exported-elsewhere-p (comparison)
  "True if forms of the project's files may export more than definitions of packages say."
  (loop for version being the hash-values of (comparison-files comparison)
        thereis (and version
                     (find-if (lambda (form)
                                (or (equal (source-form-operator form) "EXPORT")
                                    (and (equal (source-form-operator form) "EVAL-WHEN")
                                         (search "(export" (form-text-of form version) :test #'char-equal))))
                              (version-forms version)))))

(defun unexporting (names package)
  "The source of a form that ends the exports NAMES of PACKAGE.  SBCL refuses to load a definition
without them."
  (with-standard-io-syntax
    (let ((*print-readably* nil) (*package* (find-package '#:keyword)))
      (format nil "(unexport '~S ~S)"
              (loop for name in names collect (find-symbol name package))
              (package-name package)))))

(defun export-finding (key extra missing comparison)
  "The FINDING on the package KEY, which has the exports EXTRA and not those MISSING of its definition
on disk; NIL without any."
  (destructuring-bind (form . version) (gethash key (comparison-disk comparison))
    (when (or extra missing)
      (make-finding
       :kind :exports :names (append extra missing) :keys (list key) :object (list key extra missing)
       :next (and extra (list "evaluate-lisp" "code" (unexporting extra (find-package (cdr key))) nil))
       :text (format nil "package ~A ~:[~2*~;exports ~A, which ~A does not~]~:[~;; ~]~:[~2*~;does not export ~A, which ~A does~]"
                     (cdr key)
                     extra (few (sort (copy-list extra) #'string<)) (form-place form version)
                     (and extra missing)
                     missing (few missing) (form-place form version))))))

(defun export-findings (comparison)
  "Of packages whose exports are not those of their definitions on disk."
  (let ((elsewherep (exported-elsewhere-p comparison)))
    (loop for key being the hash-keys of (comparison-disk comparison) using (hash-value (form))
          for origin = (and (eq (car key) :package) (gethash key *origins*))
          for package = (and origin (find-package (cdr key)))
          for options = (and package
                             (spec-detail (find key (source-form-specs form) :key #'spec-key :test #'equal)))
          for finding = (and package
                             (not (computed-p options "EXPORT"))
                             (multiple-value-bind (extra missing) (export-differences package options)
                               (export-finding key
                                               (and (not elsewherep)
                                                    (equal (source-form-operator form) "DEFPACKAGE")
                                                    extra)
                                               missing comparison)))
          when finding collect finding)))

;;; SBCL leaves the objects of a structure alone when that gets other slots: they are of no type any
;;; more.

(defparameter *walk-microseconds* 150000
  "How much of the processor a walk of the heap may take.")

(defun obsolete-objects (names)
  "(VALUES TABLE PARTP): a table from those of NAMES, of structures, to how many objects of earlier
definitions there are; PARTP is true if the walk was ended by *WALK-MICROSECONDS*."
  (let ((counts (make-hash-table :test 'eq)) (seen 0)
        (end (+ (own-microseconds) *walk-microseconds*)) (partp nil))
    (declare (fixnum seen end))
    #+sbcl
    (block walk
      (ignore-errors
       (when *launched* (sb-ext:gc :gen 1))
       (sbcl:map-allocated-objects
        (lambda (object type size)
          (declare (ignore type size))
          (when (typep object 'structure-object)
            (let ((name (sbcl:classoid-name (sbcl:classoid-of object))))
              (when (and (member name names :test #'eq)
                         (not (ignore-errors (typep object name))))
                (incf (gethash name counts 0)))))
          (when (and (zerop (logand (incf seen) 4095)) (> (own-microseconds) end))
            (setf partp t)
            (return-from walk)))
        :dynamic)))
    #-sbcl (progn names seen end)
    (values counts partp)))

(defun redefined-structures (comparison)
  "Names of the structures that files or evaluations have redefined since they were loaded first."
  (with-shared-table (*origins*)
    (loop for key being the hash-keys of *origins* using (hash-value origin)
          when (and (eq (car key) :class)
                    (equal (source-form-operator (origin-form origin)) "DEFSTRUCT")
                    (or (origin-changedp origin)
                        (member (state-of key comparison) '(:live :live-same))))
            collect (cdr key))))

(defun obsolete-findings (comparison)
  (let ((names (redefined-structures comparison)))
    (multiple-value-bind (counts partp) (if names (obsolete-objects names) (make-hash-table))
      (loop for name being the hash-keys of counts using (hash-value count)
            collect (make-finding :kind :obsolete :names (list (label-of (cons :class name)))
                                  :text (format nil "~:[~;at least ~]~D object~:P of an earlier ~A ~:[are~;is~] left in the heap: functions of the present one refuse ~:*~:[them~;it~]"
                                                partp count (label-of (cons :class name)) (= count 1)))))))

(defun definition-file-changed-p (file)
  "True if FILE, which defines a system, is not as it was when we had it read."
  (let* ((old (definition-fingerprint file)) (new (and old (take-fingerprint file))))
    (and old (or (null new) (changed-p file old new)))))

(defun system-findings (comparison)
  "Definitions of the project's systems that have changed, or that are not those in use."
  (let ((loaded (loaded-systems)))
    (append
     (loop for name in (comparison-systems comparison)
           when (definition-gone-p name)
             collect (make-finding :kind :system :names (list name)
                                   :text (format nil "~A is loaded, and its definition ~A is gone"
                                                 name (short-file (definition-name (primary-name name))))))
     (loop for name in (remove-duplicates (mapcar #'primary-name (comparison-systems comparison))
                                          :test #'string=)
           for file = (definition-file name)
           for path = (and file (native-name file))
           when (and path
                     (not (definition-gone-p name))
                     (if (loaded-file path)
                         (changed-since-loaded-p path)
                         (definition-file-changed-p file)))
             collect (make-finding :kind :system :names (list name) :file path
                                   :text (format nil "~A has changed since it was read" (short-file path))))
     (loop for name in (remove-if-not #'own-definition-p (project-systems))
           for file = (project-definition name)
           for theirs = (and (member name loaded :test #'string=) (definition-file name))
           when (and theirs
                     (not (same-file-p file theirs)))
             collect (make-finding :kind :system :names (list name)
                                   :text (format nil "~A was loaded from ~A, not from the project's ~A"
                                                 name (native-name theirs) (short-file (native-name file))))))))
