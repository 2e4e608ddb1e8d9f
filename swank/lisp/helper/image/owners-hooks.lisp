;;;; owners-hooks.lisp -- the debugger hooks of a person's image stay theirs

(cl:in-package #:swank-mcp)

;;; Swank makes its debugger everybody's whenever somebody connects.  Where SLIME is
;;; connected that is how it was before.  Where only we are, an error at the person's
;;; prompt would go to a debugger that nobody sees.  What was there before Swank did
;;; so nobody remembers, so it is told from who else is there.

#+sbcl
(defun swanks-hooks-p ()
  (eq (sb-ext:symbol-global-value '*debugger-hook*) #'swank:swank-debugger-hook))

#+sbcl
(defun slynks-hooks ()
  "The values that Slynk gives both hooks, if Sly is connected."
  (flet ((there (name package)
           (and (find-package package) (find-symbol name package))))
    (let ((connections (there "*CONNECTIONS*" '#:slynk))
          (install (there "INSTALL-DEBUGGER-GLOBALLY" '#:slynk-backend))
          (hook (there "SLYNK-DEBUGGER-HOOK" '#:slynk)))
      (when (and connections (boundp connections) (symbol-value connections)
                 install (fboundp install) hook (fboundp hook))
        (let ((*debugger-hook* nil) (sb-ext:*invoke-debugger-hook* nil))
          (ignore-errors
           (funcall install (symbol-function hook))
           (list *debugger-hook* sb-ext:*invoke-debugger-hook*)))))))

#+sbcl
(defun debuggerless-p ()
  "True of an image that was started without debugger."
  (intersection '("--disable-debugger" "--non-interactive" "--script") sb-ext:*posix-argv*
                :test #'equal))

(defun put-debugger-hooks-back ()
  "Called when we have connected, and are hidden from Swank's list of connections."
  #+sbcl
  (when (and (null swank::*connections*) (swanks-hooks-p))
    (destructuring-bind (hook invoke-hook)
        (or (slynks-hooks)
            (list nil (and (debuggerless-p) 'sbcl:debugger-disabled-hook)))
      (setf (sb-ext:symbol-global-value '*debugger-hook*) hook
            (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) invoke-hook))))
