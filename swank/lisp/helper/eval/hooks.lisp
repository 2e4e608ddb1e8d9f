;;;; hooks.lisp -- the debugger hooks around the user's code

(cl:in-package #:swank-mcp)

(defvar *own-hook* nil
  "The debugger hook of the current evaluation.")

(defun call-with-debugger-hooks (function on-error)
  "Call FUNCTION; call ON-ERROR with an unhandled condition, after the debugger hook that the
user's code may have bound.  Programs look at *DEBUGGER-HOOK*.  SBCL has another hook for us, so
there it is NIL, until they bind it and while their hook runs."
  (let ((hook nil))
    (setf hook (lambda (condition self)
                 (declare (ignore self))
                 (let ((theirs *debugger-hook*))
                   (when (and theirs (not (eq theirs hook)))
                     ;; we report an error in it: there is no other debugger
                     (let (#+sbcl (*debugger-hook* nil)
                           #+sbcl (sb-ext:*invoke-debugger-hook* hook)
                           #-sbcl (*debugger-hook* hook))
                       (funcall theirs condition theirs))))
                 (let ((*break-on-signals* nil) ; here the errors are our own
                       #+sbcl (*debugger-hook* hook))
                   (funcall on-error condition))))
    (let ((*own-hook* hook)
          #+sbcl (*debugger-hook* nil)
          #+sbcl (sb-ext:*invoke-debugger-hook* hook)
          #+sbcl (sb-ext:*stepper-hook* (lambda (condition) (at-step condition on-error)))
          #-sbcl (*debugger-hook* hook))
      (funcall function))))

(defun keep-debugger-hook ()
  "Between two forms: restore our hook if the first form has disabled the debugger."
  #+sbcl (when (and *own-hook* (debugger-disabled-p))
           (setf sb-ext:*invoke-debugger-hook* *own-hook*)))

#+sbcl
(defun at-step (condition on-error)
  "Suspend the current evaluation, which steps and has come to a form, if it may be suspended."
  (when (and *evaluation*
             (evaluation-debuggee *evaluation*)
             (typep condition 'sb-ext:step-form-condition))
    (let ((sbcl:*stack-top-hint* (sbcl:find-stepped-frame)))
      (funcall on-error condition))))
