;;;; structures.lisp -- loading systems whose structures have other slots than the image's

(cl:in-package #:swank-mcp)

;;; SBCL's compiler warns of such a structure and goes over to the new definition.
;;; The warning fails the file, which would compile if it were tried again; and
;;; loading it asks whether to go over.  Who loads the changed file wants to.

(defparameter *structure-complaints*
  '("change in instance length of class" "change in superclass" "change in placement of raw slots"
    "change in the inheritance structure" "incompatibly redefining slots"
    "Clobbering the compiler's idea of the layout")
  "What the compiler says of a structure that has changed.")

(defun structure-complaint-p (condition)
  (let ((control (and (typep condition 'simple-condition)
                      (simple-condition-format-control condition))))
    (and (stringp control)
         (some (lambda (words) (search words control)) *structure-complaints*))))

(defun complained-structure (condition)
  "The name of the structure that CONDITION is about, or NIL."
  (find-if (lambda (argument) (and argument (symbolp argument) (not (keywordp argument))))
           (reverse (simple-condition-format-arguments condition))))

(defun note-structure (name)
  "The reply says that the structure NAME has changed."
  (when (and name *evaluation*)
    (pushnew (format nil "The structure ~A has other slots now: objects of it that were made before are obsolete."
                     (safely (name-label name)))
             (evaluation-remarks *evaluation*)
             :test #'string=)))

(defun compile-file-failure-p (condition)
  (let ((type (and (find-package '#:uiop) (find-symbol "COMPILE-FILE-ERROR" '#:uiop))))
    (and type (find-class type nil) (typep condition type))))

(defun call-again-for-structures (function)
  "Call FUNCTION, which builds a system; a file that fails only because structures in
it have changed is compiled again."
  (let ((complaints '()) (troubles '()) (again '()) (last nil) (structures '()))
    (flet ((see (condition trouble)
             (when *compile-file-truename*
               (setf last *compile-file-truename*)
               (cond (trouble (pushnew last troubles :test #'equal))
                     (t (pushnew last complaints :test #'equal)
                        (pushnew (complained-structure condition) structures)))))
           (in (list) (member last list :test #'equal)))
      (handler-bind
          ((warning
             (lambda (condition)
               (cond ((structure-complaint-p condition) (see condition nil))
                     ((not (typep condition 'style-warning)) (see condition t)))))
           #+sbcl (sbcl:compiler-error (lambda (condition) (see condition t)))
           (error
             (lambda (condition)
               (let ((retry (find-symbol "RETRY" '#:asdf)))
                 (cond ((compile-file-failure-p condition)
                        (when (and (in complaints) (not (in troubles)) (not (in again))
                                   (find-restart retry condition))
                          (push last again)
                          (invoke-restart (find-restart retry condition))))
                       #+sbcl
                       ((and (find-restart 'sbcl:recklessly-continue condition)
                             (find-restart 'continue condition))
                        (pushnew (complained-structure condition) structures)
                        (invoke-restart (find-restart 'continue condition))))))))
        (multiple-value-prog1 (funcall function)
          (mapc #'note-structure structures))))))
