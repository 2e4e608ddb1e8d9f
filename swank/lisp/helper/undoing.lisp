;;;; undoing.lisp -- definitions that the session's code has undone again

(cl:in-package #:swank-mcp)

;;; What a session has undefined must not come back with it when its image has
;;; died.  To look at all definitions after each evaluation would cost too much.
;;; In an image of our own the functions that undefine are watched; in a person's
;;; nothing is, and there the bridge asks before it saves a session.

(defparameter *undoing-functions*
  '(fmakunbound makunbound unintern delete-package (setf find-class)))

(defun count-undoings ()
  "Count in *UNDOINGS* the calls of what undefines."
  #+sbcl
  (dolist (name *undoing-functions*)
    (unless (sb-int:encapsulated-p name 'swank-mcp)
      (sb-int:encapsulate name 'swank-mcp
                          (lambda (function &rest arguments)
                            (incf *undoings*)
                            (apply function arguments))))))

(defun take-gone (session)
  (with-lock ()
    (shiftf (session-gone session) '())))

(defun undone-since (session)
  "The keys of SESSION's definitions that have been undone since this was called."
  (unless (eql *undoings* (session-undoings session))
    (setf (session-undoings session) *undoings*)
    (own-definitions session))
  (and (session-gone session) (take-gone session)))

(defun undone (&optional (session "default"))
  "Answer the keys of SESSION's definitions that are not there any more."
  (let ((session (ensure-session session)))
    (own-definitions session)
    (answer (take-gone session))))
