;;;; hooks.lisp -- the debugger hooks around the user's code

(cl:in-package #:swank-mcp)

(defvar *own-hook* nil
  "The current evaluation's debugger hook.")

(defun call-with-debugger-hooks (function on-error)
  "Call FUNCTION; a condition that nobody handles goes to ON-ERROR, after a
debugger hook that the user's code has bound.  Programs look at *DEBUGGER-HOOK*:
where SBCL has another hook, that is NIL until they bind it, and within theirs."
  (let ((hook nil))
    (setf hook (lambda (condition self)
                 (declare (ignore self))
                 (let ((theirs *debugger-hook*))
                   (when (and theirs (not (eq theirs hook)))
                     ;; an error in it is ours to report: there is no other debugger
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
  "Between two forms: have errors reported, whatever the first has disabled."
  #+sbcl (when (and *own-hook* (debugger-disabled-p))
           (setf sb-ext:*invoke-debugger-hook* *own-hook*)))

#+sbcl
(defun at-step (condition on-error)
  "The current evaluation has come to a form while stepping; where it may be
suspended it is, elsewhere it goes on."
  (when (and *evaluation*
             (evaluation-debuggee *evaluation*)
             (typep condition 'sb-ext:step-form-condition))
    (let ((sbcl:*stack-top-hint* (sbcl:find-stepped-frame)))
      (funcall on-error condition))))
