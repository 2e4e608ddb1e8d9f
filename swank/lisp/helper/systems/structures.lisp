;;;; structures.lisp -- loading systems whose structures have other slots than the image's

(cl:in-package #:swank-mcp)

;;; SBCL's compiler warns of such a structure and takes the new definition.  The warning makes
;;; COMPILE-FILE fail, though a second try would succeed, and loading the fasl asks whether to
;;; take the new definition.  Whoever loads the changed file wants that.

(defparameter *structure-complaints*
  '("change in instance length of class" "change in superclass" "change in placement of raw slots"
    "change in the inheritance structure" "incompatibly redefining slots"
    "Clobbering the compiler's idea of the layout")
  "Parts of the compiler's messages about a redefined structure.")

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
  "Have the reply say that the structure NAME was redefined."
  (when (and name *evaluation*)
    (pushnew (format nil "The structure ~A has other slots now: objects of it that were made before are obsolete."
                     (safely (name-label name)))
             (evaluation-remarks *evaluation*)
             :test #'string=)))

(defun compile-file-failure-p (condition)
  (let ((type (named-symbol '#:uiop "COMPILE-FILE-ERROR")))
    (and type (find-class type nil) (typep condition type))))

(defun call-again-for-structures (function)
  "Call FUNCTION, which builds a system.  A file that fails only because its structures have
changed is compiled again."
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
