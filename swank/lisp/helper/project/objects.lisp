;;;; objects.lisp -- the objects of the image that each new definition of a name replaces

(cl:in-package #:swank-mcp)

(defun function-object (name)
  "The function of NAME, a macro's too; of a generic function, which stays, its source location."
  (when (fboundp name)
    (let ((function (or (and (symbolp name) (macro-function name)) (fdefinition name))))
      (if (typep function 'generic-function)
          #+sbcl (sbcl:definition-source function) #-sbcl function
          function))))

(defun specializer-name (specializer)
  "The text by which SPEC-DETAIL has SPECIALIZER, of a method."
  #+sbcl
  (if (typep specializer 'sb-mop:eql-specializer)
      (let ((object (sb-mop:eql-specializer-object specializer)))
        (eql-text (typecase object
                    (symbol (symbol-name object))
                    ((or string number character) (princ-to-string object)))))
      (let ((name (and (typep specializer 'class) (class-name specializer))))
        (if (and name (symbolp name)) (symbol-name name) "T")))
  #-sbcl (princ-to-string specializer))

(defun method-key (method)
  #+sbcl
  (list :method (sb-mop:generic-function-name (sb-mop:method-generic-function method))
        (mapcar (lambda (qualifier) (if (symbolp qualifier) (symbol-name qualifier) "?"))
                (method-qualifiers method))
        (mapcar #'specializer-name (sb-mop:method-specializers method)))
  #-sbcl (progn method nil))

(defun superseded-method-p (method)
  "True if METHOD is for a class whose name is another class's now, or no class's: only objects of
that one call it."
  #+sbcl
  (some (lambda (specializer)
          (and (typep specializer 'class)
               (let ((name (class-name specializer)))
                 (not (and name (symbolp name) (eq specializer (find-class name nil)))))))
        (sb-mop:method-specializers method))
  #-sbcl (progn method nil))

(defun same-name-p (given file)
  "True if GIVEN, as SBCL has noted it or NIL, names FILE."
  (and given
       (or (string= given file)
           (let ((path (ignore-errors (native-name (truename given)))))
             (and path (string= path file))))))

(defun method-of-key (key &optional file)
  "The method of KEY, or NIL.  An EQL specializer that the text computes fits any.  Of methods for classes that
have one name in several packages, that is the one from FILE."
  #+sbcl
  (destructuring-bind (name qualifiers specializers) (cdr key)
    (flet ((same (theirs ours)
             (or (equal theirs ours)
                 (and (equal ours (eql-text nil)) (starts-with "(EQL" theirs)))))
      (and (not (stringp (function-symbol name)))
           (fboundp name)
           (typep (fdefinition name) 'generic-function)
           (let ((found (remove-if-not (lambda (method)
                                         (let ((theirs (cdr (method-key method))))
                                           (and (equal qualifiers (second theirs))
                                                (not (superseded-method-p method))
                                                (= (length specializers) (length (third theirs)))
                                                (every #'same (third theirs) specializers))))
                                       (sb-mop:generic-function-methods (fdefinition name)))))
             (or (and file
                      (rest found)
                      (find-if (lambda (method)
                                 (same-name-p (location-file (sbcl:definition-source method)) file))
                               found))
                 (first found))))))
  #-sbcl (progn key file nil))

(defun definition-object (key &optional file)
  "The object that identifies the definition KEY, of FILE if there are several, in the image; NIL if there is
none."
  (destructuring-bind (kind . name) key
    (let ((symbol (case kind
                    (:package nil)
                    (:method (function-symbol (first name)))
                    (t (function-symbol name)))))
      (if (or (stringp symbol) (and (null symbol) (not (eq kind :package))))
          nil
          (ignore-errors
           (case kind
             (:function (function-object name))
             (:compiler-macro (compiler-macro-function name))
             #+sbcl (:method (let ((method (method-of-key key file)))
                               (and method (sbcl:definition-source method))))
             #+sbcl (:variable (or (sbcl:info :source-location :variable name)
                                   (sbcl:info :source-location :constant name)
                                   (sbcl:info :source-location :symbol-macro name)
                                   (and (boundp name) t)))
             #+sbcl (:class (or (class-location name) (type-identity name)
                                (internal-definition :structure name)))
             #+sbcl (:package (let ((package (find-package name)))
                                (and package (or (sbcl:package-source-location package) t))))
             #+sbcl ((:setf-expander :method-combination) (internal-definition kind name))
             (t t)))))))

;;; Where an object comes from

(defun file-source (object)
  "SBCL's record of the compiled file from which OBJECT, a function, comes: one for each time that
it was loaded.  NIL for anything else."
  #+sbcl
  (and (functionp object)
       (let ((source (function-source object)))
         (and source (sbcl:debug-source-namestring source)
              (not (typep source 'sbcl:core-debug-source))
              source)))
  #-sbcl (progn object nil))

(defun object-place (object)
  "(VALUES FILE TEXT) of the definition that OBJECT identifies: the name of the file that it came
from, or the source that was evaluated; both NIL if that is not known."
  #+sbcl
  (flet ((place (file plist)
           (let ((text (getf plist :swank-mcp-source)))
             (values file (and (null file) (stringp text) text)))))
    (cond ((functionp object)
           (let ((source (function-source object)))
             (if source
                 (place (sbcl:debug-source-namestring source) (sbcl:debug-source-plist source))
                 (values nil nil))))
          ((sbcl:definition-source-location-p object)
           (place (sbcl:definition-source-location-namestring object)
                  (sbcl:definition-source-location-plist object)))
          (t (values nil nil))))
  #-sbcl (progn object (values nil nil)))
