
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

(defun scanned-facts (file name)
  "The SYSTEM-FACTS in the definition of the system NAME in FILE."
  (let ((text (file-text file)))
    (multiple-value-bind (options begin) (and text (find-defsystem text name))
      (flet ((string-option (key)
               (let ((value (option options key))) (and (stringp value) value))))
        (make-system-facts
         :name name :file (namestring file)
         :version (string-option "VERSION") :description (string-option "DESCRIPTION")
         :author (string-option "AUTHOR") :license (or (string-option "LICENSE") (string-option "LICENCE"))
         :depends-on (let ((names (option options "DEPENDS-ON")))
                       (and (listp names) (remove nil (mapcar #'dependency-name names))))
         :components (let ((components (option options "COMPONENTS"))
                           (directory (string-option "PATHNAME")))
                       (and begin (listp components)
                            (scanned-component-paths
                             components
                             (format nil "~A~@[~A/~]"
                                     (directory-namestring file)
                                     (and directory (string-right-trim "/" directory)))))))))))

(defun system-file (name)
  "The file where ASDF would find the definition of the system NAME, without reading it."
  (or (given-definition name)
      (gethash (primary-name name) (registry))
      (let ((file (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" (primary-name name))))
        (and (pathnamep file) file))))

(defun system-name-in (text)
  "The name of a system that TEXT, as a person writes it, may be: without quotes, in lower case."
  (string-downcase (string-trim " \":#'" text)))

(defun system-facts (name)
  "The SYSTEM-FACTS of the system NAME, or NIL."
  (let ((system (asdf-value "REGISTERED-SYSTEM" name)))
    (if system
        (registered-facts system name)
        (let ((file (ignore-errors (probe-file (or (system-file name) (return-from system-facts nil))))))
          (and file (scanned-facts file name))))))

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
  (loop with loaded = (asdf-value "ALREADY-LOADED-SYSTEMS")
        for (name . file) in (system-files)
        collect (format nil "- ~A~:[~;, loaded~]~@[, ~A~]" name
                        (member name loaded :test #'string-equal)
                        file)))

(defun describe-system (name &key (session "default"))
  "Answer (:TITLE :SECTIONS :WHOLE :NOTES) about the system NAME; for \"\" about all that can be
loaded."
  (with-look-up (session)
    (need-asdf)
    (let* ((name (system-name-in name))
           ;; RESCAN-UNLESS-FOUND would evaluate the system's definition
           (facts (and (string/= name "")
                       (or (system-facts name)
                           (progn (rescan-registry) (system-facts name))))))
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
                 (fail-lookup "SYSTEM-NOT-FOUND" near
                              "There is no system ~S that ASDF would find.~@[~%Near it: ~{~A~^, ~}.~]"
                              name near)))))))
;;;; describe.lisp -- what a symbol names, in sections
;;;;
;;;; The folder look/ answers questions about what is in the image: symbols, definitions and their
;;;; callers, systems, objects.  Each file has one or two functions that the bridge calls, except
;;;; views.lisp, which inspect.lisp uses.  It uses the folders before it.  Begin with this file.

(cl:in-package #:swank-mcp)

;;; An answer has sections of lines, ((TITLE LINE ...) ...).  Names in a symbol's lambda list, type
;;; and slots print as in its own package, values as in COMMON-LISP-USER.

(defparameter *max-names* 12 "Names in one line, of subclasses for one.")

(defun call-in-home-package (symbol function)
  "Call FUNCTION in the package of SYMBOL, so that its neighbours print without a prefix."
  (let ((*package* (or (symbol-package symbol) *package*)))
    (when (keywordp symbol) (setf *package* (user-package)))
    (funcall function)))

(defun names-line (label names)
  "\"LABEL: A, B, ... (5 more)\", in a list; empty without names."
  (when names
    (list (format nil "~A: ~{~A~^, ~}~@[ and ~D more~]" label
                  (first-few names *max-names*) (count-beyond names *max-names*)))))

(defun documentation-lines (object kind)
  (let ((text (safely (documentation object kind))))
    (when (and (stringp text) (string/= text ""))
      (list (format nil "Documentation: ~A" (clip text 3000))))))

(defun site-lines (name &rest kinds)
  (loop for site in (loop for kind in kinds append (definition-sites name kind))
        when (site-origin site)
          collect (format nil "Defined in: ~A" (site-line-text site))))

;;; Functions

#+sbcl
(defun function-type-text (name)
  (safely (call-in-home-package (if (symbolp name) name (second name))
                                (lambda () (clip (prin1-to-string (sb-introspect:function-type name)) 500)))))

#+sbcl
(defun method-texts (function)
  (loop for method in (sb-mop:generic-function-methods function)
        collect (format nil "- ~{~A ~}(~{~A~^ ~})"
                        (mapcar #'bounded-text (method-qualifiers method))
                        (mapcar #'specializer-text (sb-mop:method-specializers method)))))

(defun specializer-text (specializer)
  #+sbcl (if (typep specializer 'class)
             (let ((name (class-name specializer)))
               (if (and name (symbolp name)) (spelling name) (bounded-text specializer 100)))
             (format nil "(EQL ~A)" (bounded-text (sb-mop:eql-specializer-object specializer) 100)))
  #-sbcl (bounded-text specializer 100))

(defun method-lines (function)
  (let ((texts (method-texts function)))
    (when texts
      (cons (format nil "Methods (~D):" (length texts)) (clip-lines texts *max-names*)))))

(defun call-text (name)
  "A call of NAME with its lambda list."
  (let ((lambda-list (lambda-list-text name)) (spelled (function-spelling name)))
    (cond ((or (string= lambda-list "") (char/= #\( (char lambda-list 0)))
           (format nil "~A ~A" spelled lambda-list))
          ((string= lambda-list "()") (format nil "(~A)" spelled))
          (t (format nil "(~A ~A" spelled (subseq lambda-list 1))))))

(defun function-remarks (name)
  (append (when (and (symbolp name) (compiler-macro-function name))
            '("It has a compiler macro."))
          #+sbcl
          (when (and (symbolp name) (eq 'inline (sbcl:info :function :inlinep name)))
            '("Declared INLINE."))
          #+sbcl
          (when (ignore-errors (member name (sbcl:%list-traced-funs) :test #'equal))
            '("Traced."))))

(defun function-section (name)
  (cond ((and (symbolp name) (special-operator-p name))
         `("Special Operator" ,(call-text name) ,@(documentation-lines name 'function)))
        ((and (symbolp name) (macro-function name))
         `("Macro" ,(call-text name)
                   ,@(documentation-lines name 'function) ,@(site-lines name :macro)
                   ,@(function-remarks name)))
        ((not (fboundp name)) nil)
        ((typep (fdefinition name) 'generic-function)
         `("Generic Function" ,(call-text name)
                              ,@(method-lines (fdefinition name))
                              ,@(documentation-lines name 'function)
                              ,@(site-lines name :generic-function)))
        (t
         `("Function" ,(call-text name)
                      ,@(let ((type (function-type-text name)))
                          (and type (list (format nil "Type: ~A" type))))
                      ,@(documentation-lines name 'function) ,@(site-lines name :function)
                      ,@(function-remarks name)))))

(defun setf-section (symbol)
  "The section for (SETF SYMBOL), or NIL."
  (let ((name (list 'setf symbol)))
    (cond ((fboundp name) (list* "Setf Function" (rest (function-section name))))
          ((surely-defined-p :setf-expander symbol)
           `("Setf Expander" ,@(documentation-lines symbol 'setf)
                             ,@(site-lines symbol :setf-expander))))))

;;; Variables

(defun global-value (symbol session)
  "(VALUES VALUE BOUNDP) of SYMBOL for code of SESSION at top level."
  (cond ((eq symbol '*package*) (values (live-package session) t))
        ((member symbol *session-variables*) (values (session-variable session symbol) t))
        #+sbcl ((not (ignore-errors (sb-ext:symbol-global-value symbol) t)) (values nil nil))
        #-sbcl ((not (boundp symbol)) (values nil nil))
        (t (values #+sbcl (sb-ext:symbol-global-value symbol) #-sbcl (symbol-value symbol) t))))

(defun variable-kind (symbol)
  #+sbcl (sbcl:info :variable :kind symbol)
  #-sbcl (cond ((constantp symbol) :constant) ((boundp symbol) :special)))

(defun value-lines (symbol session)
  (multiple-value-bind (value boundp) (global-value symbol session)
    (list (if boundp
              (format nil "Value: ~A" (bounded-text value))
              "Unbound."))))

#+sbcl
(defun declared-type-lines (symbol)
  (let ((type (ignore-errors (sbcl:type-specifier (sbcl:info :variable :type symbol)))))
    (when (and type (not (eq type t)))
      (list (format nil "Declared type: ~A" (call-in-home-package symbol (lambda () (bounded-text type))))))))

(defun variable-section (symbol session)
  (let ((kind (variable-kind symbol)))
    (flet ((section (title kind)
             `(,title ,@(value-lines symbol session) ,@(declared-type-lines symbol)
                      ,@(documentation-lines symbol 'variable) ,@(site-lines symbol kind))))
      (cond ((keywordp symbol) nil)
            ((eq kind :constant) (section "Constant" :constant))
            ((eq kind :macro)
             `("Symbol Macro" ,(format nil "Expansion: ~A"
                                       (call-in-home-package
                                        symbol (lambda () (bounded-text (macroexpand-1 symbol)))))
                              ,@(documentation-lines symbol 'variable)
                              ,@(site-lines symbol :symbol-macro)))
            ((eq kind :special) (section "Special Variable" :variable))
            ((or (eq kind :global) (nth-value 1 (global-value symbol session)))
             (section "Global Variable" :variable))))))

;;; Classes and types

