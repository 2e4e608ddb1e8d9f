;;;; asdf.lisp -- what ASDF says of systems
;;;;
;;;; The folder systems/ knows ASDF's systems and the files that their definitions come
;;;; from: where a definition stands, which files have changed since they were built, which
;;;; definitions no file has any more, which system would define a missing package.
;;;; It builds no system: eval/system-loading.lisp does.  It uses core/ and session/.  ASDF may not
;;;; be there when this is compiled, so its functions are called by name: begin with ASDF-VALUE.

(cl:in-package #:swank-mcp)

(defun asdf-value (name &rest arguments)
  "What ASDF's function NAME returns; NIL if there is none, or if it signals an error."
  (let ((function (named-function '#:asdf name)))
    (and function (ignore-errors (apply function arguments)))))

(defun need-asdf ()
  (unless (find-package '#:asdf)
    (if *launched*
        (require-contrib "asdf")
        (fail-lookup "NO-ASDF" '() "ASDF is not loaded in this image, and looking must not load it."))))

(defun ensure-asdf ()
  (or (find-package '#:asdf)
      (require-contrib "asdf")))

(defun quicklisp-p ()
  (named-function '#:ql "QUICKLOAD"))

(defun asdf-itself-p (name)
  (member name '("asdf" "uiop" "asdf-package-system") :test #'string=))

(defun asdf-at-work-p ()
  (or (named-value '#:asdf/session "*ASDF-SESSION*") (named-value '#:asdf/cache "*ASDF-CACHE*")))

(defun search-in-session (name)
  "What ASDF's search functions return for the system NAME: a file, a system or NIL.  One that makes
systems signals an error outside of a session of ASDF's."
  (let ((call (or (named-function '#:asdf/session "CALL-WITH-ASDF-SESSION")
                  (named-function '#:asdf/cache "CALL-WITH-ASDF-CACHE")
                  #'funcall)))
    (ignore-errors (funcall call (lambda () (asdf-value "SEARCH-FOR-SYSTEM-DEFINITION" name))))))

(defun registry ()
  "ASDF's hash table from the names of the systems that it would find to their files."
  (asdf-value "ENSURE-SOURCE-REGISTRY")
  (let ((table (named-value '#:asdf/source-registry "*SOURCE-REGISTRY*")))
    (if (hash-table-p table) table (make-hash-table :test 'equal))))

(defun registered-systems ()
  "How many systems ASDF knows.  As long as that stays the same, none was loaded."
  (if (find-package '#:asdf)
      (length (call-named '#:asdf "REGISTERED-SYSTEMS"))
      0))

(defvar *once-loaded* (make-shared-table)
  "The names of the systems that ASDF has called loaded.")

(defun loaded-systems ()
  "The names of the systems that are loaded.  ASDF forgets that a system is when it reads the definition
again, which has changed, and fails while another thread does that; the system is loaded none the less."
  (when (find-package '#:asdf)
    (let ((loaded (asdf-value "ALREADY-LOADED-SYSTEMS")))
      (remove-if-not (lambda (name) (asdf-value "REGISTERED-SYSTEM" name))
                     (with-shared-table (*once-loaded*)
                       (dolist (name loaded)
                         (setf (gethash name *once-loaded*) t))
                       (loop for name being the hash-keys of *once-loaded* collect name))))))

(defun primary-name (name)
  (subseq name 0 (position #\/ name)))

(defun designated-name (designator)
  "The name of the system that DESIGNATOR, a string or a symbol, means to ASDF."
  (if (symbolp designator) (string-downcase designator) designator))

(defun dependency-name (dependency)
  "The name in one entry of :DEPENDS-ON, a string, or NIL: of \"a\", (:version \"a\" \"1\"),
(:feature :x \"a\"), (:require \"a\"), given as data or as scanned text."
  (flet ((plain (datum)
           (cond ((stringp datum) datum)
                 ((token-p datum) (string-downcase (string-left-trim ":#" (token-text datum))))
                 ((and datum (symbolp datum)) (string-downcase datum)))))
    (if (atom dependency)
        (plain dependency)
        (let ((operator (plain (first dependency))))
          (cond ((null operator) nil)
                ((string= operator "feature") (dependency-name (third dependency)))
                ((member operator '("version" "require") :test #'string=)
                 (dependency-name (second dependency))))))))

(defun direct-dependencies (name)
  "The names of the systems that the system NAME depends on."
  (let ((system (asdf-value "REGISTERED-SYSTEM" name)))
    (loop for needed in (append (asdf-value "SYSTEM-DEFSYSTEM-DEPENDS-ON" system)
                                (asdf-value "SYSTEM-DEPENDS-ON" system))
          for unwantedp = (and (consp needed)
                               (eq (first needed) :feature)
                               (not (ignore-errors
                                     (call-named '#:uiop "FEATUREP" (second needed)))))
          for dependency = (and (not unwantedp) (dependency-name needed))
          when dependency collect dependency)))

(defun built-children (component)
  "The parts of COMPONENT, a module or system, that ASDF builds in this Lisp."
  (remove-if-not (lambda (child)
                   (let ((feature (asdf-value "COMPONENT-IF-FEATURE" child)))
                     (or (null feature) (call-named '#:uiop "FEATUREP" feature))))
                 (asdf-value "COMPONENT-CHILDREN" component)))

(defun component-type-p (component name)
  "True if COMPONENT is of ASDF's class NAME."
  (typep component (find-symbol name '#:asdf)))

(defun call-with-files (name function)
  "Call FUNCTION with each component of the system NAME, which is registered, that has a file, and with
the file, in order."
  (labels ((walk (component)
             (if (component-type-p component "MODULE")
                 (mapc #'walk (built-children component))
                 (let ((file (asdf-value "COMPONENT-PATHNAME" component)))
                   (when file (funcall function component file))))))
    (walk (asdf-value "REGISTERED-SYSTEM" name))))

(defun definition-file (name)
  "The file that defined the system NAME, or NIL."
  (asdf-value "SYSTEM-SOURCE-FILE" (asdf-value "REGISTERED-SYSTEM" name)))

(defun definition-name (name)
  "The native name of the file that defined the system NAME, or \"\"."
  (let ((file (definition-file name))) (if file (native-name file) "")))
