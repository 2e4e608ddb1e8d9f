;;;; undefining.lisp -- definitions that the session's code has undefined

(cl:in-package #:swank-mcp)

;;; A restore must not bring back what the session has undefined.  To check all definitions after
;;; each evaluation would cost too much.  A launched image watches the functions that undefine.
;;; A person's image is not watched: there the bridge asks before it saves a session.

(defparameter *undefining-functions*
  '(fmakunbound makunbound unintern delete-package (setf find-class)
    load)                               ; what a file defines again is the file's
  "Functions after whose calls the session's definitions are checked.")

(defparameter *package-functions*
  '(export unexport import shadowing-import shadow use-package unuse-package
    rename-package delete-package
    #+sbcl sb-ext:add-package-local-nickname #+sbcl sb-ext:remove-package-local-nickname
    #+sbcl sb-ext:lock-package #+sbcl sb-ext:unlock-package))

(defparameter *readtable-functions*
  '(set-macro-character set-dispatch-macro-character make-dispatch-macro-character
    set-syntax-from-char))

(defun watch-undefiners ()
  "Count calls: of functions that undefine in *UNDEFINITIONS*, of those that change packages in
*PACKAGE-CHANGES*, of those that change readtables in *READTABLE-CHANGES*."
  #+sbcl
  (flet ((watch (names tag count)
           (dolist (name names)
             (unless (sbcl:encapsulated-p name tag)
               (sbcl:encapsulate name tag
                                 (lambda (function &rest arguments)
                                   (funcall count)
                                   (apply function arguments)))))))
    (watch *undefining-functions* 'swank-mcp (lambda () (incf *undefinitions*)))
    (watch *package-functions* 'swank-mcp-packages (lambda () (incf *package-changes*)))
    (watch *readtable-functions* 'swank-mcp-readtables (lambda () (incf *readtable-changes*)))))

(defun take-gone (session)
  (with-lock () (shiftf (session-gone session) '())))

(defun undefined-since (session)
  "The keys of SESSION's definitions that were undefined since this was called last."
  (unless (eql *undefinitions* (session-undefinitions session))
    (setf (session-undefinitions session) *undefinitions*)
    (own-definitions session))
  (and (session-gone session) (take-gone session)))

(defun undefined-definitions (&optional (session "default"))
  "Answer the keys of SESSION's definitions that are gone, for a file to be saved; and have ASDF
compile what has changed on disk when the file loads SESSION's systems."
  (let ((session (ensure-session session)))
    (own-definitions session)
    (outdate-for-others (session-systems session))
    (answer (take-gone session))))
