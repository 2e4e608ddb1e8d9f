;;;; asdf.lisp -- what ASDF says of systems
;;;;
;;;; The folder systems/ knows ASDF's systems and the files that their definitions come
;;;; from: where a definition stands, which files have changed since they were built, which
;;;; definitions no file has any more, which system would bring a package that is missing.
;;;; It builds no system: eval/loading.lisp does.  It uses core/ and session/.  ASDF may not
;;;; be there when this is compiled, so its functions are called by name: begin with ASDF-VALUE.

(cl:in-package #:swank-mcp)

(defun asdf-value (name &rest arguments)
  "What ASDF's function NAME, which may not be there, returns; NIL for an error."
  (let ((symbol (find-symbol name '#:asdf)))
    (and symbol (fboundp symbol) (ignore-errors (apply symbol arguments)))))

(defun need-asdf ()
  (unless (find-package '#:asdf)
    (if *launched*
        (require-own "asdf")
        (fail-lookup "NO-ASDF" '() "ASDF is not loaded in this image, and looking must not load it."))))

(defun ensure-asdf ()
  (or (find-package '#:asdf)
      (require-own "asdf")))

(defun quicklisp-p ()
  (let ((quickload (and (find-package '#:ql) (find-symbol "QUICKLOAD" '#:ql))))
    (and quickload (fboundp quickload))))

(defun asdf-itself-p (name)
  (member name '("asdf" "uiop" "asdf-package-system") :test #'string=))

(defun asdf-at-work-p ()
  (loop for (package name) in '(("ASDF/SESSION" "*ASDF-SESSION*") ("ASDF/CACHE" "*ASDF-CACHE*"))
        for symbol = (and (find-package package) (find-symbol name package))
        thereis (and symbol (boundp symbol) (symbol-value symbol))))

(defun registry ()
  "Hash table of the names of systems that ASDF would find to their files."
  (asdf-value "ENSURE-SOURCE-REGISTRY")
  (let* ((package (find-package '#:asdf/source-registry))
         (variable (and package (find-symbol "*SOURCE-REGISTRY*" package)))
         (table (and variable (boundp variable) (symbol-value variable))))
    (if (hash-table-p table) table (make-hash-table :test 'equal))))

(defun registered-systems ()
  "How many systems ASDF has heard of: whether another one was loaded is asked
only when there are more than there were."
  (if (find-package '#:asdf)
      (length (call-named '#:asdf "REGISTERED-SYSTEMS"))
      0))

(defun loaded-systems ()
  (and (find-package '#:asdf)
       (ignore-errors (call-named '#:asdf "ALREADY-LOADED-SYSTEMS"))))

(defun primary-name (name)
  (subseq name 0 (position #\/ name)))

(defun dependency-name (dependency)
  "The name in one entry of :DEPENDS-ON, a string, or NIL: of \"a\", (:version \"a\" \"1\"),
(:feature :x \"a\"), (:require \"a\"), given as data or as inert text."
  (flet ((plain (datum)
           (cond ((stringp datum) (string-downcase datum))
                 ((token-p datum) (string-downcase (string-left-trim ":#" (token-text datum))))
                 ((and datum (symbolp datum)) (string-downcase datum)))))
    (if (atom dependency)
        (plain dependency)
        (let ((operator (plain (first dependency))))
          (cond ((null operator) nil)
                ((string= operator "feature") (dependency-name (third dependency)))
                ((member operator '("version" "require") :test #'string=)
                 (dependency-name (second dependency))))))))

(defun needed-systems (name)
  "The names of the systems that the system NAME depends on."
  (let ((system (asdf-value "REGISTERED-SYSTEM" name)))
    (loop for needed in (append (asdf-value "SYSTEM-DEFSYSTEM-DEPENDS-ON" system)
                                (asdf-value "SYSTEM-DEPENDS-ON" system))
          for dependency = (if (and (consp needed)
                                    (eq (first needed) :feature)
                                    (not (ignore-errors
                                          (call-named '#:uiop "FEATUREP" (second needed)))))
                               nil
                               (dependency-name needed))
          when dependency collect dependency)))

(defun definition-file (name)
  "The file that has defined the system NAME, or NIL."
  (asdf-value "SYSTEM-SOURCE-FILE" (asdf-value "REGISTERED-SYSTEM" name)))
