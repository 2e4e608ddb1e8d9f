;;;; shown.lisp -- errors that a person shows to the agents while they are in their debugger

(cl:in-package #:swank-mcp)

;;; For get-backtrace and inspect-frame such an error is a suspended evaluation; nothing else can be
;;; done with it.  It is there as long as the person's thread is in the debugger with it.  See
;;; people/show.lisp.

(defstruct (shown-error (:copier nil))
  token                                 ; as of a thread of the program: negative
  thread condition level               ; of the debugger
  report frames                         ; as of a DEBUGGEE
  (at (microseconds)))

(defvar *shown-errors* '()
  "Newest first; some may be over.")

(defun debugger-level (thread)
  "How many levels of Swank's debugger THREAD is in."
  #+sbcl (or (sb-thread:symbol-value-in-thread 'swank::*sldb-level* thread nil) 0)
  #-sbcl (progn thread 0))

(defun shown-live-p (shown)
  "True while the person is in the debugger with the error SHOWN, or in a deeper level of it."
  #+sbcl
  (let* ((thread (shown-error-thread shown)) (level (debugger-level thread)))
    (or (> level (shown-error-level shown))
        (and (= level (shown-error-level shown))
             (eq (shown-error-condition shown)
                 (sb-thread:symbol-value-in-thread 'swank::*swank-debugger-condition* thread nil)))))
  #-sbcl (progn shown nil))

(defun live-shown-errors ()
  (let ((over (remove-if #'shown-live-p (with-lock () *shown-errors*))))
    (with-lock ()
      (setf *shown-errors* (remove-if (lambda (shown) (member shown over)) *shown-errors*)))))

(defun find-shown-error (token)
  (find token (live-shown-errors) :key #'shown-error-token))
