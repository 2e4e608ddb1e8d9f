;;;; describe-system.lisp -- DESCRIBE-SYSTEM

(cl:in-package #:swank-mcp)

;;; ASDF has the facts of a system that it knows.  To find another one would evaluate its definition, so
;;; that file is scanned.

(defstruct (system-facts (:conc-name facts-) (:copier nil))
  "The facts about a system, from ASDF or from its file."
  name file version description author license
  depends-on                            ; names
  components                            ; paths, in the order of definition
  loadedp
  registeredp)                          ; true if ASDF has its definition

;;; From ASDF

(defun component-paths (component)
  (let ((children (asdf-value "COMPONENT-CHILDREN" component)))
    (if children
        (loop for child in children append (component-paths child))
        (let ((path (asdf-value "COMPONENT-PATHNAME" component)))
          (and path (not (asdf-value "COMPONENT-SYSTEM-P" component))
               (list (namestring path)))))))

(defun registered-facts (system name)
  (flet ((text (function) (let ((value (asdf-value function system)))
                            (and (stringp value) (string/= value "") value))))
    (make-system-facts
     :name name :registeredp t
     ;; of a system that it has made of a file an older ASDF does not say it
     :file (let ((file (or (asdf-value "SYSTEM-SOURCE-FILE" system) (definition-file (primary-name name)))))
             (and file (namestring file)))
     :version (text "COMPONENT-VERSION") :description (text "SYSTEM-DESCRIPTION")
     :author (text "SYSTEM-AUTHOR") :license (text "SYSTEM-LICENSE")
     :depends-on (remove nil (mapcar #'dependency-name (asdf-value "SYSTEM-DEPENDS-ON" system)))
     :components (loop for child in (asdf-value "COMPONENT-CHILDREN" system)
                       append (component-paths child))
     :loadedp (and (member name (loaded-systems) :test #'string=) t))))

;;; From the text of a definition

(defun option (options name)
  (loop for (key value) on options by #'cddr
        when (token-name= key name) return value))

(defun scanned-component-paths (components directory)
  "The files in the :COMPONENTS of a definition, as written, under DIRECTORY."
  (loop for component in components
        when (and (consp component) (token-p (first component)) (dependency-name (second component)))
          append (let* ((name (dependency-name (second component)))
                        (written (option (cddr component) "PATHNAME"))
                        (path (if (stringp written) written name))
                        (type (string-left-trim ":" (token-text (first component)))))
                   (cond ((string-equal type "MODULE")
                          (scanned-component-paths (option (cddr component) "COMPONENTS")
                                                   (if (string= path "")
                                                       directory
                                                       (format nil "~A~A/" directory (string-right-trim "/" path)))))
                         ((string-equal type "FILE")
                          (list (format nil "~A~A~:[.lisp~;~]" directory path (search ".lisp" path))))
                         (t (list (format nil "~A~A" directory path)))))))

(defun find-defsystem (text name)
  "(VALUES OPTIONS BEGIN END) of the form in TEXT that defines the system NAME, or NIL."
  (loop with at = 0
        do (multiple-value-bind (form begin end) (scan-datum text at)
             (cond ((and (null begin) (>= end (length text))) (return nil))
                   ((and (consp form) (token-name= (first form) "DEFSYSTEM")
                         (equal (dependency-name (second form)) name))
                    (return (values (cddr form) begin end))))
             (setf at (if begin end (1+ end))))))

(defun definition-place (file options)
  "The directory of the components of a system with OPTIONS, which FILE defines: a namestring."
  (let ((directory (option options "PATHNAME")))
    (format nil "~A~@[~A/~]" (directory-namestring file)
            (and (stringp directory) (string-right-trim "/" directory)))))

(defun inferred-components (file text name)
  "The file of which ASDF may make the system NAME, as FILE, with TEXT, defines its primary system by a
class of its own; in a list, or NIL."
  (let* ((primary (primary-name name)) (options (find-defsystem text primary)))
    (and (string/= primary name)
         (option options "CLASS")
         (let ((source (format nil "~A~A.lisp" (definition-place file options)
                               (subseq name (1+ (length primary))))))
           (and (probe-file (native-file source)) (list source))))))

(defun scanned-facts (file name)
  "The SYSTEM-FACTS in the definition of the system NAME in FILE; NIL if it is one like \"a/b\" and not
there."
  (let ((text (file-text file)))
    (multiple-value-bind (options begin) (and text (find-defsystem text name))
      (flet ((string-option (key)
               (let ((value (option options key))) (and (stringp value) value))))
        (let* ((components (option options "COMPONENTS"))
               (files (if begin
                          (and (listp components)
                               (scanned-component-paths components (definition-place file options)))
                          (and text (inferred-components file text name)))))
          (when (or begin files (string= name (primary-name name)))
            (make-system-facts
             :name name :file (namestring file)
             :version (string-option "VERSION") :description (string-option "DESCRIPTION")
             :author (string-option "AUTHOR")
             :license (or (string-option "LICENSE") (string-option "LICENCE"))
             :depends-on (let ((names (option options "DEPENDS-ON")))
                           (and (listp names) (remove nil (mapcar #'dependency-name names))))
             :components files)))))))

(defun system-file (name)
  "The file where ASDF would find the definition of the system NAME, without reading it."
  (or (given-file name)
      (gethash (primary-name name) (registry))
      (let ((file (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" (primary-name name))))
        (and (pathnamep file) file))))

(defun system-facts (name)
  "The SYSTEM-FACTS of the system NAME, or NIL."
  (let ((system (asdf-value "REGISTERED-SYSTEM" name)))
    (if system
        (registered-facts system name)
        (let ((file (ignore-errors (probe-file (or (system-file name) (return-from system-facts nil))))))
          (and file (scanned-facts file name))))))

(defun facts-meant (name)
  "The SYSTEM-FACTS of the system NAME, or if there is none, of that of its lower case; or NIL."
  (or (system-facts name) (system-facts (string-downcase name))))

;;; The answer

(defun dependency-lines (name)
  "The tree of what the system NAME depends on; each system has its own dependencies once."
  (let ((seen (list name)) (lines '()) (count 0))
    (labels ((walk (names depth)
               (dolist (name names)
                 (when (< (incf count) 120)
                   (let* ((again (member name seen :test #'string=))
                          (facts (and (not again) (system-facts name))))
                     (push name seen)
                     (push (format nil "~A- ~A~@[ ~A~]~A" (make-string (* 2 depth) :initial-element #\space) name
                                   (and facts (facts-version facts))
                                   (cond (again (if facts "" ", see above"))
                                         ((null facts) ", not found")
                                         ((facts-loadedp facts) ", loaded")
                                         (t "")))
                           lines)
                     (when (and facts (< depth 8))
                       (walk (facts-depends-on facts) (1+ depth))))))))
      (walk (facts-depends-on (system-facts name)) 0))
    (when (> count 120) (push "- and more" lines))
    (reverse lines)))

(defun files-section (facts)
  (let ((files (mapcar (lambda (file) (format nil "- ~A" file)) (facts-components facts))))
    (and files (list (cons "Files" (mapcar #'list (clip-lines files 150)))))))

(defun related-facts (name)
  "The SYSTEM-FACTS of the system NAME and, if ASDF knows it, of those that it needs whose
definitions lie in its directory or below, except its tests."
  (let ((seen '()) (found '()) (directory nil))
    (labels ((visit (name)
               (unless (member name seen :test #'string=)
                 (push name seen)
                 (let* ((facts (system-facts name)) (file (and facts (facts-file facts))))
                   (when (and file
                              (or (null directory)
                                  (and (eql 0 (search directory file)) (not (names-tests-p name)))))
                     (unless directory (setf directory (directory-namestring file)))
                     (push facts found)
                     (mapc #'visit (direct-dependencies name)))))))
      (visit name))
    (reverse found)))

(defun packages-of-files (files)
  "The packages that FILES, namestrings, define and that export something, those that export most
first."
  (let ((table (make-hash-table :test 'equal)))
    (dolist (file files)
      (let ((found (ignore-errors (truename file))))
        (when found (setf (gethash found table) t))))
    (sort (loop for package in (list-all-packages)
                for file = (package-source-file package)
                when (and file (gethash (ignore-errors (truename file)) table)
                          (exported-symbols package))
                  collect package)
          #'> :key (lambda (package) (length (exported-symbols package))))))

(defun system-library-sections (facts)
  "Sections about the library that the system FACTS is: from the image if it is loaded, or else
from its files."
  (let* ((directory (and (facts-file facts) (library-directory (pathname (facts-file facts)))))
         (files (loop for each in (related-facts (facts-name facts)) append (facts-components each)))
         (packages (packages-of-files files))
         (written (and (null packages) (written-entries files))))
    (append (and directory
                 (library-sections directory
                                   (if packages
                                       (function-names (mapcan #'exported-symbols packages))
                                       (written-function-names written))))
            (if packages
                (loop for package in packages append (export-sections package (rest packages)))
                (sections-by-kind written)))))

(defun system-sections (facts)
  `(("System"
     ,(format nil "Name: ~A" (facts-name facts))
     ,@(when (facts-version facts) (list (format nil "Version: ~A" (facts-version facts))))
     ,(format nil "Loaded: ~:[no~;yes~]" (facts-loadedp facts))
     ,@(when (facts-file facts) (list (format nil "Defined in: ~A" (facts-file facts))))
     ,@(when (facts-description facts)
         (list (format nil "Description: ~A" (clip (facts-description facts) 500))))
     ,@(when (facts-author facts) (list (format nil "Author: ~A" (clip (facts-author facts) 200))))
     ,@(when (facts-license facts) (list (format nil "License: ~A" (clip (facts-license facts) 100)))))
    ,@(system-library-sections facts)
    ,@(when (facts-depends-on facts)
        (list (cons "Depends On" (mapcar #'list (dependency-lines (facts-name facts))))))
    ,@(files-section facts)))

(defun system-files ()
  "((NAME . FILE) ...) of the systems that can be loaded, sorted; FILE may be NIL."
  (let ((names '()))
    (maphash (lambda (name file) (push (cons name (namestring file)) names)) *project-definitions*)
    (maphash (lambda (name file) (pushnew (cons name (namestring file)) names :test #'string= :key #'car))
             (registry))
    (dolist (name (asdf-value "REGISTERED-SYSTEMS"))
      (pushnew (list name) names :test #'string= :key #'car))
    (sort names #'string< :key #'car)))

(defun all-systems ()
  "A line for each system that can be loaded."
  (loop with loaded = (loaded-systems)
        for (name . file) in (system-files)
        collect (format nil "- ~A~:[~;, loaded~]~@[, ~A~]" name
                        (member name loaded :test #'string=)
                        file)))

(defun describe-system (name &key (session "default"))
  "Answer (:TITLE :SECTIONS :WHOLE :NOTES) about the system NAME; for \"\" about all that can be
loaded."
  (with-look-up (session)
    (need-asdf)
    (let ((facts (and (string/= name "")
                      ;; MEANT-NAME would evaluate the system's definition
                      (or (facts-meant name)
                          (progn (rescan-registry) (facts-meant name))))))
      (cond ((string= name "")
             (rescan-registry)
             (let ((lines (all-systems)))
               (plist-without-nils
                :title (format nil "~D system~:P can be loaded" (length lines))
                :names (mapcar #'first (system-files))
                :sections (and lines (list (cons "Systems" lines)))
                :notes (when (quicklisp-p)
                         '("Quicklisp can install others: (ql:system-apropos \"part of a name\") finds them.")))))
            (facts
             (page-answer
              (system-sections facts)
              :notes (unless (facts-registeredp facts)
                       '("Not loaded by ASDF yet: this is what the text of its definition says."))))
            (t (let ((near (near-systems name)))
                 (fail-lookup "SYSTEM-NOT-FOUND" (remove-if-not (lambda (other) (meant-p name other)) near)
                              "There is no system ~S that ASDF would find.~@[~%Near it: ~{~A~^, ~}.~]"
                              name near)))))))
