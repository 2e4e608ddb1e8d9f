;;;; undoing.lisp -- definitions that the session's code has undone again

(cl:in-package #:swank-mcp)

;;; What a session has undefined must not come back with it when its image has
;;; died.  To look at all definitions after each evaluation would cost too much.
;;; In an image of our own the functions that undefine are watched; in a person's
;;; nothing is, and there the bridge asks before it saves a session.

(defparameter *undoing-functions*
  '(fmakunbound makunbound unintern delete-package (setf find-class)
    load)                               ; a file takes over what it defines anew
  "Those after which the session's definitions are looked at.")

(defparameter *package-functions*
  '(export unexport import shadowing-import shadow use-package unuse-package
    rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package))

(defparameter *readtable-functions*
  '(set-macro-character set-dispatch-macro-character make-dispatch-macro-character
    set-syntax-from-char))

(defun count-undoings ()
  "Count in *UNDOINGS* the calls of what undefines, in *PACKAGE-CHANGES* those of what
changes packages, in *READTABLE-CHANGES* those of what changes readtables."
  #+sbcl
  (flet ((watch (names tag count)
           (dolist (name names)
             (unless (sbcl:encapsulated-p name tag)
               (sbcl:encapsulate name tag
                                 (lambda (function &rest arguments)
                                   (funcall count)
                                   (apply function arguments)))))))
    (watch *undoing-functions* 'swank-mcp (lambda () (incf *undoings*)))
    (watch *package-functions* 'swank-mcp-packages (lambda () (incf *package-changes*)))
    (watch *readtable-functions* 'swank-mcp-readtables (lambda () (incf *readtable-changes*)))))

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
  "Answer the keys of SESSION's definitions that are not there any more, as a file that
is saved needs it; and let its systems be loaded there as they are on disk."
  (let ((session (ensure-session session)))
    (own-definitions session)
    (outdate-for-others (session-systems session))
    (answer (take-gone session))))
