;;;; bridge-definitions.lisp -- redefinitions of functions that the bridge needs

(cl:in-package #:swank-mcp)

;;; Such a definition is evaluated as the user wants.  It is not restored into a new image,
;;; where it would break the bridge again.

(defparameter *bridge-packages*
  (loop for package in (list-all-packages)
        for name = (package-name package)
        when (eql 0 (search "SWANK" name)) collect name)
  "The names of Swank's packages and ours.  A user's library may have a name like these.")

(defun bridge-package-p (package)
  (and package
       (or (member (package-name package) *bridge-packages* :test #'string=)
           (implementation-package-p package))))

(defun system-symbol-p (symbol)
  "True of symbols of the Lisp system, of Swank and of the helper."
  (and (symbolp symbol)
       symbol
       (let ((package (symbol-package symbol)))
         (or (eq package (find-package '#:common-lisp)) (bridge-package-p package)))))

(defun bridge-key-p (key)
  "True if the bridge may depend on the definition KEY, (KIND . NAME): a function of the
system's, Swank's or ours, or a method of such a function that applies to objects of all
kinds.  A PRINT-OBJECT method for a class of the user's is the user's."
  (destructuring-bind (kind . name) key
    (case kind
      ((:package :system :form) nil)
      (:method
       (destructuring-bind (function qualifiers specializers) name
         (and (system-symbol-p (function-symbol function))
              (every #'system-symbol-p specializers)
              (or (bridge-package-p (symbol-package (function-symbol function)))
                  qualifiers
                  (member (first specializers) '(t standard-object structure-object))))))
      ((:variable :constant) (and (symbolp name) (bridge-package-p (symbol-package name))))
      (t (system-symbol-p (function-symbol name))))))
