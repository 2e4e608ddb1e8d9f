;;;; debugger-hooks.lisp -- a person's image keeps its own debugger hooks

(cl:in-package #:swank-mcp)

;;; Swank sets both debugger hooks globally whenever somebody connects.  If SLIME is connected
;;; they were so before.  If only we are, an error at the person's prompt would go to a debugger
;;; that nobody sees.  Swank does not save the old values, so we infer them from who else is
;;; connected.

(defun swanks-hooks-p ()
  (eq (sb-ext:symbol-global-value '*debugger-hook*) #'swank:swank-debugger-hook))

(defun slynks-hooks ()
  "The values that Slynk gives both hooks, if Sly is connected."
  (let ((install (named-function '#:slynk-backend "INSTALL-DEBUGGER-GLOBALLY"))
        (hook (named-function '#:slynk "SLYNK-DEBUGGER-HOOK")))
    (when (and (named-value '#:slynk "*CONNECTIONS*") install hook)
      (let ((*debugger-hook* nil) (sb-ext:*invoke-debugger-hook* nil))
        (ignore-errors
         (funcall install (symbol-function hook))
         (list *debugger-hook* sb-ext:*invoke-debugger-hook*))))))

(defun debuggerless-p ()
  "True if this image was started without a debugger."
  (intersection '("--disable-debugger" "--non-interactive" "--script") sb-ext:*posix-argv*
                :test #'equal))

(defun put-debugger-hooks-back ()
  "Restore the hooks.  Our own connection is not in Swank's list when this is called."
  (when (and (null swank::*connections*) (swanks-hooks-p))
    (destructuring-bind (hook invoke-hook)
        (or (slynks-hooks)
            (list nil (and (debuggerless-p) 'sbcl:debugger-disabled-hook)))
      (setf (sb-ext:symbol-global-value '*debugger-hook*) hook
            (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) invoke-hook))))
