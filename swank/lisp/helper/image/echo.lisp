;;;; echo.lisp -- what the agent evaluates, shown in the person's REPL

(cl:in-package #:swank-mcp)

;;; SLIME puts what a :WRITE-STRING event brings above the prompt, and leaves
;;; what is being typed alone.  The event goes straight to the thread that
;;; writes to that Emacs: Swank's own way would wait for an Emacs that is busy,
;;; and with it this thread.  An Emacs that has stopped reading misses texts.

(defparameter *unread-limit* 500
  "With more unread messages than this, an Emacs is shown nothing until it has read.")

(defun unread (thread)
  "How many messages wait for THREAD."
  #+sbcl
  (let ((mailbox (find-symbol "MAILBOX" '#:swank/sbcl))
        (queue (find-symbol "MAILBOX.QUEUE" '#:swank/sbcl)))
    (if (and mailbox (fboundp mailbox) queue (fboundp queue))
        (length (funcall queue (funcall mailbox thread)))
        0))
  #-sbcl (progn thread 0))

(defun show-in-repls (&rest texts)
  "Show TEXTS, one after the other, above the prompt of every REPL that a person has open."
  (dolist (connection swank::*connections*)
    (dolist (text texts)
      (ignore-errors
       (let ((thread (control-thread connection)))
         (when (and thread
                    (swank::connection.user-output connection)
                    (< (unread thread) *unread-limit*))
           (swank/backend:send thread (list :write-string text))))))))
