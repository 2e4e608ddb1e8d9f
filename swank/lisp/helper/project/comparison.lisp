;;;; comparison.lisp -- each definition of the project's packages: in the image, and on disk

(cl:in-package #:swank-mcp)

(defstruct (comparison (:copier nil))
  "What is loaded of the project, beside what is on disk.  SOURCES are ((FILE . COMPONENT) ...) in
the order of loading; FILES a table from them to their VERSION now, or NIL; DISK from keys to
(FORM . VERSION), the last that defines each; STATES from keys to VERDICTs.  CALLS has the codes of
forms on disk that define nothing by their operator; EVALUATED those of them that have made what the
image has, from heads as of FORM-HEAD.  FUNCTIONS are
((KEY . FUNCTION) ...) of the image; NAMES a table from names of files as SBCL has them to ours; UNLOADED
what UNLOADED-FILES returns, or NIL before it is asked for."
  systems sources packages functions unloaded
  (files (make-hash-table :test 'equal))
  (disk (make-hash-table :test 'equal))
  (calls (make-hash-table))
  (evaluated (make-hash-table :test 'equal))
  (states (make-hash-table :test 'equal))
  (names (make-hash-table :test 'equal)))

(defstruct (verdict (:copier nil))
  "What is to be said of a definition.  STATE is :SAME; :LIVE-SAME, evaluated, and the same text as
in the file; :LIVE, evaluated, and another text; :ALONE, suspected to be in no file;
:LOADED, of another content of the file; or :OUTDATED, a variable with a value that another form
gave.  TEXT is what was evaluated, or NIL; FILE the one that an :ALONE definition came from, or a :LIVE one
from elsewhere, or NIL."
  key state object text file)

(defun state-of (key comparison)
  "The state of the VERDICT on the definition KEY, or NIL if there is none."
  (let ((verdict (gethash key (comparison-states comparison))))
    (and verdict (verdict-state verdict))))

(defun file-forms (comparison)
  "Fill FILES and DISK.  Return the names of the packages in which the files are read."
  (let ((names '()) (disk (comparison-disk comparison)))
    (loop for (file) in (comparison-sources comparison)
          for version = (file-version file)
          do (setf (gethash file (comparison-files comparison)) version)
             (loop for form across (if version (version-forms version) #())
                   do (pushnew (source-form-package form) names :test #'string=)
                      (unless (source-form-specs form)
                        (setf (gethash (source-form-code form) (comparison-calls comparison)) t))
                      (dolist (spec (source-form-specs form))
                        (when (eq (spec-kind spec) :package)
                          (pushnew (spec-name spec) names :test #'string=))
                        (setf (gethash (spec-key spec) disk) (cons form version)))))
    names))

(defun project-packages (names)
  "The packages called NAMES that are the project's own."
  (remove-duplicates
   (loop for name in names
         for package = (find-package name)
         when (and package
                   (not (internal-package-p package))
                   (not (member package (list (find-package '#:common-lisp-user)
                                              (find-package '#:common-lisp)
                                              (find-package '#:keyword)
                                              (find-package '#:asdf-user)))))
           collect package)))

(defun in-no-system-p (file comparison)
  "True if FILE, which was loaded, is there and in no loaded system: what it defines for names of its
own is no more the project's than what an evaluation does."
  (and (not (nth-value 1 (gethash file (comparison-files comparison))))
       (probe-file (native-file file))
       t))

(defun unloaded-files (comparison)
  "A table of the files of systems that the project defines, ASDF knows, and COMPARISON does not have: they are
not loaded, or have not the name of a file that defines them."
  (let ((files (make-hash-table :test 'equal)))
    (dolist (name (remove-if-not #'defined-here-p (asdf-value "REGISTERED-SYSTEMS")) files)
      (unless (member name (comparison-systems comparison) :test #'string=)
        (loop for (file) in (ignore-errors (system-sources name)) do (setf (gethash file files) t))))))

(defun of-unloaded-system-p (file comparison)
  "True if FILE, which was loaded, is of a system that is not, as one whose loading has failed."
  (and (not (nth-value 1 (gethash file (comparison-files comparison))))
       (gethash file (or (comparison-unloaded comparison)
                         (setf (comparison-unloaded comparison) (unloaded-files comparison))))))

;;; Where a definition of the image came from

(defun project-file (name comparison)
  "The native name of the project's file that SBCL has noted as NAME; NIL if it is none."
  (when name
    (multiple-value-bind (file knownp) (gethash name (comparison-names comparison))
      (if knownp
          file
          (setf (gethash name (comparison-names comparison))
                (flet ((ours (file)
                         (and file
                              (or (nth-value 1 (gethash file (comparison-files comparison)))
                                  (loaded-file file))
                              file)))
                  (or (ours name)
                      (ours (ignore-errors (native-name (native-file name))))
                      (ours (ignore-errors (native-name (truename name)))))))))))

(defun tokens-in (datum)
  (cond ((token-p datum) (list datum))
        ((consp datum) (mapcan #'tokens-in datum))))

(defun token-symbol (token package)
  (multiple-value-bind (name prefix) (split-token (token-text token))
    (let ((package (find-package (or prefix package))))
      (and package (find-symbol name package)))))

(defun same-read-p (live source disk version)
  "True if the form LIVE in SOURCE, read with prefixes in another package, means the same as DISK in
VERSION: the same but for prefixes, and what has a meaning is the same symbol."
  (let ((text (version-text version)))
    (and (string= (normal-text source (source-form-begin live) (source-form-end live) :bare t)
                  (normal-text text (source-form-begin disk) (source-form-end disk) :bare t))
         (every (lambda (a b)
                  (let ((a (token-symbol a "COMMON-LISP-USER"))
                        (b (token-symbol b (source-form-package disk))))
                    (or (eq a b)
                        (not (or (and a (named-thing-p a)) (and b (named-thing-p b)))))))
                (tokens-in (scan-datum source (source-form-begin live)))
                (tokens-in (scan-datum text (source-form-begin disk)))))))

(defun called-on-disk-p (text comparison)
  "True if a file has a form of TEXT, which was evaluated, as it is: a macro has made of it what the
image has."
  (let ((text (coerce text '(simple-array character (*)))))
    (find-if (lambda (form)
               (when (gethash (source-form-code form) (comparison-calls comparison))
                 (setf (gethash (form-head form text) (comparison-evaluated comparison))
                       (source-form-code form))))
             (scan-source text))))

(defun changes-nothing-p (key form source disk)
  "True if FORM of SOURCE is a DEFVAR, or a DEFCONSTANT that has failed, that has left its variable
the value that DISK gives it."
  (and (or (once-form-p form) (equal (source-form-operator form) "DEFCONSTANT"))
       (null (fourth (parts-of form source)))
       (let ((codes (value-codes key)))
         (and (member (value-code (car disk) (version-text (cdr disk))) codes)
              (not (member (value-code form source) codes))))))

(defun still-of-text-p (text key)
  "True if something that TEXT, which was evaluated, defines has not been defined again.  KEY tells
the package in which it was read."
  (let ((package (symbol-package (key-symbol key))))
    (loop for form in (evaluated-forms (coerce text '(simple-array character (*))))
          thereis (loop for (kind . name)
                          in (loop for spec in (source-form-specs form)
                                   when (member (spec-kind spec) '(:class :function))
                                     collect (cons (spec-kind spec)
                                                   (and package (find-symbol (spec-name spec) package))))
                        for object = (and name (definition-object (cons kind name)))
                        thereis (and object (equal text (nth-value 1 (object-place object))))))))

(defun judge-live (key object text disk comparison)
  (flet ((verdict (state) (make-verdict :key key :state state :object object :text text)))
    (multiple-value-bind (form definingp source) (live-form text key)
      (cond ((and form disk
                  (or (eql (source-form-code form) (source-form-code (car disk)))
                      (same-read-p form source (car disk) (cdr disk))))
             (verdict (if (and (eq (car key) :variable) (other-value-p key (car disk) (cdr disk)))
                          :outdated
                          :live-same)))
            ((and form disk (changes-nothing-p key form source disk)) (verdict :live-same))
            (disk (verdict :live))
            (form (verdict :alone))
            ((and definingp (still-of-text-p text key)) nil) ; an accessor of what that defines
            ((and (not definingp) (called-on-disk-p text comparison)) (verdict :live-same))
            (t (verdict :alone))))))

(defvar *made-by-macros* (make-shared-table)
  "Keys of definitions that macros of a file have made to the LOADED-FILE of it.")

(defun judge-from-file (key object file disk comparison)
  "The verdict on the definition KEY, which came from FILE in a load that is not the one that was
noted of it."
  (let* ((loaded (loaded-file file)) (origin (gethash key *origins*))
         (source (file-source object))
         (samep (and loaded source (eq source (loaded-file-source loaded)))))
    (flet ((verdict (state)
             (make-verdict :key key :state state :object object :file file)))
      (cond ((of-unloaded-system-p file comparison) nil)
            ((and disk (or samep (null loaded))) nil) ; conditionally, or not seen
            (disk (verdict :loaded))
            ((and samep (null origin)) (setf (gethash key *made-by-macros*) loaded) nil)
            ((or samep origin (null loaded)) nil) ; made again by code of the file, or by a macro
            ((= (loaded-file-number loaded) (loaded-file-first loaded)) nil) ; there was no earlier load
            (t (verdict :alone))))))    ; or a macro has made it: a fresh image shows that

(defun session-made-by-any-p (key)
  "True if a form that a session has evaluated made the definition KEY: its source is known, or it is of a kind
that has none.  What running code makes, as tests do, is not told."
  (with-lock ()
    (loop for session being the hash-values of *sessions*
          thereis (loop for kind in (or (find-if (lambda (kinds)
                                                   (eq (car (namespace-of (cons (first kinds) nil)))
                                                       (car key)))
                                                 *sibling-kinds*)
                                        (list (car key)))
                        for entry = (gethash (cons kind (cdr key)) (session-definitions session))
                        thereis (and entry (or (eq (car key) :setf-expander) (entry-source entry)) t)))))

(defun judge (key object comparison)
  "The VERDICT on the definition KEY of the image, which OBJECT identifies; NIL if none is to be
made: it follows from another one."
  (let ((origin (gethash key *origins*)) (disk (gethash key (comparison-disk comparison))))
    (flet ((verdict (state &optional file)
             (make-verdict :key key :state state :object object :file file)))
      (if (and origin (eq object (origin-object origin)))
          (cond ((and disk (eql (origin-code origin) (source-form-code (car disk))))
                 (verdict (if (and (eq (car key) :variable) (other-value-p key (car disk) (cdr disk)))
                              :outdated
                              :same)))
                (disk (verdict :loaded))
                ((nth-value 1 (gethash (origin-file origin) (comparison-files comparison)))
                 (verdict :loaded))
                ((of-unloaded-system-p (origin-file origin) comparison) nil)
                (t (verdict :alone (origin-file origin))))
          (multiple-value-bind (name text) (object-place object)
            (let ((file (project-file name comparison)))
              (cond (file (judge-from-file key object file disk comparison))
                    (text (judge-live key object text disk comparison))
                    ((and origin disk) (verdict :live name))
                    ((session-made-by-any-p key) (verdict (if disk :live :alone))))))))))
