;;;; debugger-hooks.lisp -- a person's image keeps its own debugger hooks

(cl:in-package #:swank-mcp)

;;; Swank sets both debugger hooks globally whenever somebody connects, and leaves them so.  If an
;;; editor is connected, or was, they were so before.  If only we are, an error at the person's
;;; prompt would go to a debugger that nobody sees.  Swank does not save the old values.  Since we
;;; were here for the first time NOTE-HOOKS does.  For that first time, we infer them from who else
;;; is connected, or was: inject.lisp sees that in Swank's log, which soon has more than that.

(defvar *served-before* nil
  "True if Swank had served somebody else before the connection that brought us here.")

(defvar *hooks-before* '()
  "((CONNECTION . VALUES) ...): connections since we are here, weakly, and the values of both hooks
before them.")

(defun global-hooks ()
  (list (sb-ext:symbol-global-value '*debugger-hook*)
        (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*)))

(defun set-global-hooks (hook invoke-hook)
  (setf (sb-ext:symbol-global-value '*debugger-hook*) hook
        (sb-ext:symbol-global-value 'sb-ext:*invoke-debugger-hook*) invoke-hook))

(defun note-hooks (connection)
  "Note both hooks before Swank sets them for CONNECTION."
  (with-lock ()
    (setf *hooks-before*
          (acons (sb-ext:make-weak-pointer connection) (global-hooks)
                 (delete-if-not #'sb-ext:weak-pointer-value *hooks-before* :key #'car)))))

(defun take-hooks-before (connection)
  "What NOTE-HOOKS has noted for CONNECTION, or NIL."
  (with-lock ()
    (let ((noted (find connection *hooks-before*
                       :key (lambda (noted) (sb-ext:weak-pointer-value (car noted))))))
      (setf *hooks-before* (remove noted *hooks-before*))
      (cdr noted))))

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

(defun inferred-hooks ()
  "The values of both hooks before the first connection of ours, which is not in Swank's list when
this is called."
  (cond ((or swank::*connections* *served-before* (not (swanks-hooks-p))) (global-hooks))
        ((slynks-hooks))
        (t (list nil (and (debuggerless-p) 'sbcl:debugger-disabled-hook)))))

(defun put-debugger-hooks-back (connection)
  "Give both hooks the values that they had before CONNECTION, which is ours."
  (apply #'set-global-hooks (or (take-hooks-before connection) (inferred-hooks)))
  ;; before Swank's own, which sets them
  (pushnew 'note-hooks swank::*new-connection-hook*))
