;;;; serving.lisp -- the threads that evaluations and look-ups run on
;;;;
;;;; The folder image/ is about the image as a whole: how a bridge comes to one that is
;;;; somebody's and leaves it again, how one that was launched is set up, how a session is
;;;; reset, what is going on.  It uses every other folder, and none uses it.

(cl:in-package #:swank-mcp)

;;; A rex with thread T costs a new thread and a mailbox that Swank never
;;; removes.  A thread that serves requests as Swank's REPL thread does, without
;;; being it, is addressed by its id and lasts as long as we like.
;;;
;;; Between requests a timer, or INTERRUPT-THREAD, may run the user's code in it.
;;; An error in that must not open a level of Swank's debugger, in which every
;;; later request would run: it is reported, and the thread waits on.

(defun call-with-idle-hooks (function)
  "Call FUNCTION, which serves requests; outside of a request, an error that
nobody handles is reported and given up."
  (let ((swanks *debugger-hook*))
    (flet ((hook (condition self)
             (when (and (null swank::*pending-continuations*) swank::*sldb-quit-restart*)
               (report-idle-error condition)
               (invoke-restart swank::*sldb-quit-restart*))
             (when swanks (funcall swanks condition self))))
      (let ((*debugger-hook* #'hook)
            #+sbcl (sb-ext:*invoke-debugger-hook* #'hook))
        (funcall function)))))

(defun report-idle-error (condition)
  "Where output goes that belongs to no evaluation."
  (write-late-line (format nil "; error in thread ~S, which evaluated nothing then: ~A: ~A"
                           (swank/backend:thread-name (swank/backend:current-thread))
                           (type-label condition) (condition-text condition))))

(defun write-late-line (text)
  (when *late-output*
    (ignore-errors (write-line text *late-output*) (finish-output *late-output*))))

(defun handle-requests-on (connection)
  "Where a person ends this thread while it waits, it goes on: what is sent to a thread
that has ended nobody answers."
  #+sbcl
  (unless *launched*
    (loop
      (catch-ending 'sbcl:%abort-thread
                    (lambda () (swank::handle-requests connection) (return-from handle-requests-on))
                    (lambda ()
                      (when (or (somebody-exits-p) (not (connectedp connection)))
                        (sb-thread:abort-thread))))))
  (swank::handle-requests connection))

(defun serve-requests (connection)
  "Serve the requests for this thread until somebody throws END-OF-SERVICE."
  (catch 'end-of-service
    (let ((swank::*sldb-quit-restart* nil)
          (*served* connection)
          (*break-on-signals* nil))     ; a person's; ours is the session's
      (swank::with-connection (connection)
        (call-with-idle-hooks (lambda () (handle-requests-on connection))))))
  (protect-control-stack))

(defun serving-thread (name)
  "Start a thread called NAME that serves this connection's requests; return its
id, or NIL if it did not come up."
  (let* ((connection swank::*emacs-connection*)
         (id nil)
         (thread (swank/backend:spawn
                  (lambda ()
                    (setf id (swank/backend:thread-id (swank/backend:current-thread)))
                    (serve-requests connection))
                  :name name)))
    (note-guest-thread connection thread)
    (loop repeat 5000 until id do (sleep 0.001))
    id))

(defun start-thread (name)
  "As SERVING-THREAD; the answer is the id, for use as the THREAD of :EMACS-REX."
  (answer (serving-thread name)))
