;;;; packages.lisp -- exports of packages, structures and definitions of systems that differ

(cl:in-package #:swank-mcp)

(defun clause-names (options name)
  "The names in the clauses called NAME of the scanned options of a package."
  (loop for option in options
        when (and (consp option) (token-name= (first option) name))
          append (loop for part in (rest option) for text = (token-name part) when text collect text)))

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
  "Of packages whose definition is loaded as it is."
  (let ((elsewherep (exported-elsewhere-p comparison)))
    (loop for key being the hash-keys of (comparison-disk comparison) using (hash-value (form . version))
          for origin = (and (eq (car key) :package) (gethash key *origins*))
          for package = (and origin
                             (eql (origin-code origin) (source-form-code form))
                             (find-package (cdr key)))
          for options = (and package
                             (spec-detail (find key (source-form-specs form) :key #'spec-key :test #'equal)))
          when package
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
     (loop for name in (project-systems)
           for file = (project-definition name)
           for theirs = (and (member name loaded :test #'string=) (definition-file name))
           when (and theirs
                     (not (same-file-p file theirs)))
             collect (make-finding :kind :system :names (list name)
                                   :text (format nil "~A was loaded from ~A, not from the project's ~A"
                                                 name (native-name theirs) (short-file (native-name file))))))))
