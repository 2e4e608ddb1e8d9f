;;;; guarded.lisp -- definitions that change what the bridge stands on

(cl:in-package #:swank-mcp)

;;; Such a definition is evaluated as the user wants it, and is not brought back
;;; into another image: there it would break the bridge again.

(defparameter *bridge-packages*
  (loop for package in (list-all-packages)
        for name = (package-name package)
        when (eql 0 (search "SWANK" name)) collect name)
  "Swank's and our own; a library of the user's may have a name that begins so, too.")

(defun bridge-package-p (package)
  (and package
       (or (member (package-name package) *bridge-packages* :test #'string=)
           (implementation-package-p package))))

(defun system-symbol-p (symbol)
  "True of symbols of the Lisp system's, Swank's and ours."
  (and (symbolp symbol)
       symbol
       (let ((package (symbol-package symbol)))
         (or (eq package (find-package '#:common-lisp)) (bridge-package-p package)))))

(defun bridge-key-p (key)
  "True if KEY, (KIND . NAME), is a definition that others depend on: a function of the
system's, Swank's or ours, or a method of a generic function of theirs that applies to
objects of all kinds.  A PRINT-OBJECT method for a class of the user's is the user's."
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

(defun function-symbol (name)
  "X of X and of (SETF X)."
  (if (consp name) (second name) name))
