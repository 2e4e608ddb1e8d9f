;;;; describe-symbol.lisp -- DESCRIBE-SYMBOL: of a symbol, or of a package as a guide to it

(cl:in-package #:swank-mcp)

(defun package-section (package)
  (let ((externals 0) (own 0))
    (do-external-symbols (symbol package) (declare (ignore symbol)) (incf externals))
    (do-symbols (symbol package) (when (eq package (symbol-package symbol)) (incf own)))
    `("Package"
      ,(format nil "Name: ~A" (package-name package))
      ,@(names-line "Nicknames" (package-nicknames package))
      ,@(names-line "Uses" (mapcar #'package-name (package-use-list package)))
      ,@(names-line "Used by" (sort (mapcar #'package-name (package-used-by-list package)) #'string<))
      ,(format nil "External symbols: ~D" externals)
      ,(format nil "Symbols of its own: ~D" own)
      ,@(documentation-lines package t)
      ,@(site-lines (package-name package) :package))))

(defun package-guide (package)
  "Sections about PACKAGE: itself, its library, and what it exports."
  (let* ((file (package-source-file package))
         (directory (and file (library-directory file))))
    (cons (package-section package)
          (append (and directory
                       (library-sections directory (function-names (exported-symbols package))))
                  (export-sections package)))))

(defun describe-symbol (text &key (session "default") package)
  "Answer (:TITLE TEXT :SECTIONS ((TITLE LINE ...) ...) :WHOLE SECTIONS :STANDARD NAME) about the
symbol, the (SETF SYMBOL) or the package that TEXT names; :STANDARD for symbols of COMMON-LISP.
:WHOLE has everything where the sections are shortened."
  (with-look-up (session)
    (multiple-value-bind (name meant found-in) (name-or-package text session package)
      (page-answer
       (append (cond ((and meant (null found-in)) '())
                     ((symbolp name) (symbol-sections name session))
                     (t (remove nil (list (function-section name)))))
               (and meant (package-guide meant)))
       :title (cond ((and meant (null found-in)) (package-name meant))
                    ((symbolp name) (symbol-title name found-in))
                    (t (function-spelling name)))
       :standard (and found-in (standard-symbol-name name))))))
