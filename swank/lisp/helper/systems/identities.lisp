;;;; identities.lisp -- the functions and source locations that identify definitions
;;;;
;;;; Each new definition of a name makes a new one.

(cl:in-package #:swank-mcp)

(defun function-source (function)
  "SBCL's record of what FUNCTION was compiled from, or NIL."
  (ignore-errors
   (sbcl:debug-info-source
    (sbcl:%code-debug-info (sbcl:fun-code-header (sbcl:%fun-fun function))))))

(defun function-file (function)
  "The name of the file that FUNCTION was compiled from, or NIL."
  (let ((source (function-source function)))
    (and source (sbcl:debug-source-namestring source))))

(defun location-file (location)
  (and (sbcl:definition-source-location-p location)
       (sbcl:definition-source-location-namestring location)))

(defun class-location (name)
  (let ((class (find-class name nil)))
    (and class
         (or (ignore-errors (sbcl:definition-source class))
             (ignore-errors (sbcl:classoid-source-location (sbcl:find-classoid name)))))))

(defun type-identity (name)
  "The object that identifies the DEFTYPE of NAME, or NIL.  A type that stands for one specifier is expanded
by a closure of SBCL's own, and has a location, which stays when the type is defined otherwise or taken
away; any other expander has its own place."
  (let ((expander (ignore-errors (sbcl:info :type :expander name))))
    (and (functionp expander)
         (if (eql 0 (search "SYS:" (or (ignore-errors (function-file expander)) "")))
             (or (sbcl:info :type :source-location name) expander)
             expander))))

(defun identities (symbol)
  "((KIND NAME OBJECT) ...) of what SYMBOL names, OBJECT a function or a location."
  (let ((found '()))
    (flet ((add (kind name object) (when object (push (list kind name object) found)))
           (place (kind) (sbcl:info :source-location kind symbol)))
      (dolist (name (list symbol (list 'setf symbol)))
        (when (fboundp name)
          (let ((function (or (and (symbolp name) (macro-function name)) (fdefinition name))))
            (cond ((typep function 'generic-function)
                   (add :generic name (ignore-errors (sbcl:definition-source function)))
                   (dolist (method (sb-mop:generic-function-methods function))
                     (add :method method (ignore-errors (sbcl:definition-source method)))))
                  (t (add :function name function))))))
      (add :compiler-macro symbol (compiler-macro-function symbol))
      (add :variable symbol (ignore-errors (or (and (boundp symbol)
                                                    (or (place :variable) (place :constant)))
                                               (place :symbol-macro))))
      (add :class symbol (class-location symbol))
      (add :type symbol (type-identity symbol)))
    found))
