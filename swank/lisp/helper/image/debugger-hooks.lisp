;;;; debugger-hooks.lisp -- a person's image keeps its own debugger hooks

(cl:in-package #:swank-mcp)

;;; Swank sets both debugger hooks globally whenever somebody connects, and leaves them so.  If an
;;; editor is connected, or was, they were so before.  If only we are, an error at the person's
;;; prompt would go to a debugger that nobody sees.  Swank does not save the old values.  So we put
;;; back what they were when the last bridge had gone; for the first one, we infer them.

(defvar *hooks-left* nil
  "The values of both hooks, a list, when a bridge was last here; NIL before.")

(defun global-hooks ()
  (list (sb-ext:symbol-global-value '*debugger-hook*)
        (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)))

(defun swanks-hooks-p ()
  (eq (first (global-hooks)) #'swank:swank-debugger-hook))

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

(defun note-hooks ()
  "Note both hooks, which a bridge that goes leaves as they are."
  (setf *hooks-left* (global-hooks)))

(defun put-debugger-hooks-back (served-others)
  "Give both hooks the values that they had before our connection, which is not in Swank's list when
this is called.  SERVED-OTHERS is true if Swank's log has requests that are not a bridge's."
  (unless (or swank::*connections* served-others (not (swanks-hooks-p)))
    (destructuring-bind (hook invoke-hook)
        (or *hooks-left*
            (slynks-hooks)
            (list nil (and (debuggerless-p) 'sbcl:debugger-disabled-hook)))
      (setf (sb-ext:symbol-global-value '*debugger-hook*) hook
            (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) invoke-hook)))
  (note-hooks))
