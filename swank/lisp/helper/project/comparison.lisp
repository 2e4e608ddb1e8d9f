;;;; comparison.lisp -- each definition of the project's packages: in the image, and on disk

(cl:in-package #:swank-mcp)

(defstruct (comparison (:copier nil))
  "What is loaded of the project, beside what is on disk.  SOURCES are ((FILE . COMPONENT) ...) in
the order of loading; FILES a table from them to their VERSION now, or NIL; DISK from keys to
(FORM . VERSION), the last that defines each; STATES from keys to VERDICTs.  FUNCTIONS are
((KEY . FUNCTION) ...) of the image; NAMES a table from names of files as SBCL has them to ours."
  systems sources packages functions
  (files (make-hash-table :test 'equal))
  (disk (make-hash-table :test 'equal))
  (states (make-hash-table :test 'equal))
  (names (make-hash-table :test 'equal)))

(defstruct (verdict (:copier nil))
  "What is to be said of a definition.  STATE is :SAME; :LIVE-SAME, evaluated, and the same text as
in the file; :LIVE, evaluated, and another text; :ALONE, of which no file has anything;
:LOADED, of another content of the file, or :UNKNOWN, of which nothing is known.  TEXT is what was
evaluated, or NIL; FILE the one that an :ALONE definition came from, or NIL."
  key state object text file)

(defun file-forms (comparison)
  "Fill FILES and DISK.  Return the names of the packages in which the files are read."
  (let ((names '()) (disk (comparison-disk comparison)))
    (loop for (file) in (comparison-sources comparison)
          for version = (file-version file)
          do (setf (gethash file (comparison-files comparison)) version)
             (loop for form across (if version (version-forms version) #())
                   do (pushnew (source-form-package form) names :test #'string=)
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

(defun live-form (text key)
  "(VALUES FORM DEFININGP SOURCE) of the form in TEXT, which was evaluated, that defines KEY, by
name alone: TEXT may have been read in any package.  DEFININGP is true if it defines anything."
  (let* ((source (coerce text '(simple-array character (*))))
         (forms (scan-source source)) (definingp nil))
    (loop for form across forms
          do (dolist (spec (source-form-specs form))
               (setf definingp t)
               (when (same-key-name-p spec key)
                 (return-from live-form (values form t source)))))
    (values nil definingp source)))

(defun same-key-name-p (spec key)
  (destructuring-bind (kind . name) key
    (and (eq kind (spec-kind spec))
         (if (eq kind :package)
             (string= name (spec-name spec))
             (let ((name (if (eq kind :method) (first name) name)))
               (and (string= (spec-name spec) (string (function-symbol name)))
                    (eq (and (spec-setfp spec) t) (consp name))
                    (or (not (eq kind :method)) (equal (spec-detail spec) (rest (cdr key))))))))))

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

(defun judge-live (key object text disk)
  (flet ((verdict (state) (make-verdict :key key :state state :object object :text text)))
    (multiple-value-bind (form definingp source) (live-form text key)
      (cond ((and form disk
                  (or (eql (source-form-code form) (source-form-code (car disk)))
                      (same-read-p form source (car disk) (cdr disk))))
             (verdict :live-same))
            (disk (verdict :live))
            (form (verdict :alone))
            (definingp nil)             ; an accessor: of that which the text defines
            (t (verdict :alone))))))

(defun judge-from-file (key object file disk)
  "The verdict on the definition KEY, which came from FILE in a load that is not the one that was
noted of it."
  (let* ((loaded (loaded-file file)) (origin (gethash key *origins*))
         (source (file-source object))
         (samep (and loaded source (eq source (loaded-file-source loaded)))))
    (flet ((verdict (state)
             (make-verdict :key key :state state :object object :file file)))
      (cond ((and disk (or samep (null loaded))) nil) ; conditionally, or not seen
            (disk (verdict :loaded))
            ((or samep origin (null loaded)) nil) ; a macro of the file has made it
            ((and source (loaded-file-source loaded)) (verdict :alone))
            ((not (or source (made-by-other-form-p key object (loaded-file-version loaded))))
             (verdict :alone))))))

(defun made-by-other-form-p (key object version)
  "True if a form of VERSION that defines something else, a class for one, may have made the
definition KEY, whose source location is OBJECT."
  #+sbcl
  (let* ((number (and (sbcl:definition-source-location-p object)
                      (sbcl:definition-source-location-toplevel-form-number object)))
         (form (and (integerp number)
                    (< number (length (version-forms version)))
                    (aref (version-forms version) number))))
    (or (not (sbcl:definition-source-location-p object))
        (and form
             (or (null (source-form-specs form))
                 (member (source-form-operator form)
                         (append '("DEFCLASS" "DEFINE-CONDITION" "DEFSTRUCT" "DEFGENERIC")
                                 *surrounding-operators*)
                         :test #'equal))
             (search (string (key-symbol key)) (form-text-of form version) :test #'char-equal))))
  #-sbcl (progn key object version t))

(defun session-made-by-any-p (key)
  (with-lock ()
    (loop for session being the hash-values of *sessions*
          thereis (loop for kind in (or (find-if (lambda (kinds)
                                                   (eq (car (namespace-of (cons (first kinds) nil)))
                                                       (car key)))
                                                 *sibling-kinds*)
                                        (list (car key)))
                        thereis (gethash (cons kind (cdr key)) (session-definitions session))))))

(defun judge (key object comparison)
  "The VERDICT on the definition KEY of the image, which OBJECT identifies; NIL if none is to be
made: it follows from another one."
  (let ((origin (gethash key *origins*)) (disk (gethash key (comparison-disk comparison))))
    (flet ((verdict (state &optional file)
             (make-verdict :key key :state state :object object :file file)))
      (if (and origin (eq object (origin-object origin)))
          (cond ((and disk (eql (origin-code origin) (source-form-code (car disk))))
                 (verdict (if (outdated-value-p origin) :outdated :same)))
                (disk (verdict :loaded))
                ((nth-value 1 (gethash (origin-file origin) (comparison-files comparison)))
                 (verdict :loaded))
                (t (verdict :alone (origin-file origin))))
          (multiple-value-bind (name text) (object-place object)
            (let ((file (project-file name comparison)))
              (cond (file (judge-from-file key object file disk))
                    (text (judge-live key object text disk))
                    ((and origin disk) (verdict :live))
                    ((session-made-by-any-p key) (verdict (if disk :live :alone))))))))))
