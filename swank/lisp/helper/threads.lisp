;;;; threads.lisp -- the threads that evaluations and look-ups run on

(cl:in-package #:swank-mcp)

;;; A rex with thread T costs a new thread and a mailbox that Swank never
;;; removes.  A thread that serves requests as Swank's REPL thread does, without
;;; being it, is addressed by its id and lasts as long as we like.

(defun start-thread (name)
  "Start a thread called NAME that serves this connection's requests; answer its
id, for use as the THREAD of :EMACS-REX."
  (let ((connection swank::*emacs-connection*)
        (id nil))
    (swank/backend:spawn
     (lambda ()
       (setf id (swank/backend:thread-id (swank/backend:current-thread)))
       (let ((swank::*sldb-quit-restart* nil))
         (swank::handle-requests connection)))
     :name name)
    (loop repeat 5000 until id do (sleep 0.001))
    (answer id)))
