;;;; packages.lisp -- exports of packages, structures and definitions of systems that differ

(cl:in-package #:swank-mcp)

(defun clause-names (options name)
  "The names in the clauses called NAME of the scanned options of a package."
  (loop for option in options
        when (and (consp option) (token-name= (first option) name))
          append (loop for part in (rest option) for text = (token-name part) when text collect text)))

(defun computed-p (options name)
  "True if a clause called NAME of the scanned OPTIONS has parts that the reader computes, or that
depend on features."
  (loop for option in options
        thereis (and (consp option)
                     (token-name= (first option) name)
                     (some (lambda (part)
                             (and (token-p part)
                                  (let ((text (token-text part)))
                                    (or (string= text ".")
                                        (and (starts-with "#" text) (not (starts-with "#:" text)))))))
                           (rest option)))))

(defun export-differences (package options)
  "(VALUES EXTRA MISSING): names that PACKAGE exports and its definition with OPTIONS does not, and
the other way round."
  (let ((written (clause-names options "EXPORT")) (extra '()))
    (do-external-symbols (symbol package)
      (unless (member (symbol-name symbol) written :test #'string=)
        (push (symbol-name symbol) extra)))
    (values extra
            (remove-if (lambda (name) (eq :external (nth-value 1 (find-symbol name package)))) written))))

(defun exported-elsewhere-p (comparison)
  "True if forms of the project's files may export more than definitions of packages say."
  (loop for version being the hash-values of (comparison-files comparison)
        thereis (and version
                     (find-if (lambda (form)
                                (or (equal (source-form-operator form) "EXPORT")
                                    (and (equal (source-form-operator form) "EVAL-WHEN")
                                         (search "(export" (form-text-of form version) :test #'char-equal))))
                              (version-forms version)))))

(defun export-findings (comparison)
  "Of packages whose exports are not those of their definitions on disk."
  (let ((elsewherep (exported-elsewhere-p comparison)))
    (loop for key being the hash-keys of (comparison-disk comparison) using (hash-value (form . version))
          for origin = (and (eq (car key) :package) (gethash key *origins*))
          for package = (and origin (find-package (cdr key)))
          for options = (and package
                             (spec-detail (find key (source-form-specs form) :key #'spec-key :test #'equal)))
          when (and package (not (computed-p options "EXPORT")))
            append (multiple-value-bind (extra missing) (export-differences package options)
                     (let ((extra (and (not elsewherep)
                                       (equal (source-form-operator form) "DEFPACKAGE")
                                       extra)))
                       (when (or extra missing)
                         (list (make-finding
                                :kind :exports :names (append extra missing)
                                :text (format nil "package ~A ~@[exports ~A, which ~A does not~]~:[~;; ~]~@[does not export ~A~]"
                                              (cdr key) (and extra (few (sort (copy-list extra) #'string<)))
                                              (form-place form version)
                                              (and extra missing)
                                              (and missing (few missing)))))))))))

;;; SBCL leaves the objects of a structure alone when that gets other slots: they are of no type any
;;; more.

(defparameter *walk-microseconds* 150000)

(defun obsolete-objects (names)
  "A table from those of NAMES, of structures, to how many objects of earlier definitions there
are; what was looked at in *WALK-MICROSECONDS*."
  (let ((counts (make-hash-table :test 'eq)) (seen 0) (end (+ (microseconds) *walk-microseconds*)))
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
          (when (and (zerop (logand (incf seen) 4095)) (> (microseconds) end))
            (return-from walk)))
        :dynamic)))
    #-sbcl (progn names seen end)
    counts))

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
  (let* ((names (redefined-structures comparison)) (counts (and names (obsolete-objects names))))
    (when counts
      (loop for name being the hash-keys of counts using (hash-value count)
            collect (make-finding :kind :obsolete :names (list (label-of (cons :class name)))
                                  :text (format nil "~D object~:P of an earlier ~A ~:[are~;is~] left in the heap: functions of the present one refuse ~:*~:[them~;it~]"
                                                count (label-of (cons :class name)) (= count 1)))))))

(defun system-findings (comparison)
  "Definitions of the project's systems that have changed, or that are not those in use."
  (let ((loaded (loaded-systems)))
    (append
     (loop for name in (remove-duplicates (mapcar #'primary-name (comparison-systems comparison))
                                          :test #'string=)
           for file = (definition-file name)
           for old = (and file (definition-fingerprint file))
           for new = (and old (take-fingerprint file))
           for path = (and file (native-name file))
           when (or (and old (or (null new) (changed-p file old new)))
                    (and path (null old) (changed-since-loaded-p path)))
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
