;;;; serving.lisp -- the threads on which evaluations and look-ups run
;;;;
;;;; The folder image/ is about the image as a whole: attaching to a person's image and leaving it,
;;;; setting up a launched one, resetting a session, reporting the status.  It uses every other
;;;; folder, and none uses it.

(cl:in-package #:swank-mcp)

;;; An :EMACS-REX with thread T costs a new thread and a mailbox that Swank never removes.  So we
;;; have threads of our own that serve requests as Swank's REPL thread does.  A request names
;;; such a thread by its id.
;;;
;;; Between requests a timer or INTERRUPT-THREAD may run the user's code in it.  An error there
;;; must not open a level of Swank's debugger, in which all later requests would run.  It is
;;; reported, and the thread waits for the next request.

(defun call-with-idle-hooks (function)
  "Call FUNCTION, which serves requests; report an unhandled error outside of a request and abort
what caused it."
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
  "Write about CONDITION to the output that belongs to no evaluation."
  (write-late-line (format nil "; error in thread ~S, which evaluated nothing then: ~A: ~A"
                           (swank/backend:thread-name (swank/backend:current-thread))
                           (type-label condition) (condition-text condition))))

(defun write-late-line (text)
  (when *late-output*
    (ignore-errors (write-line text *late-output*) (finish-output *late-output*))))

(defun handle-requests-on (connection)
  "Serve the requests of CONNECTION.  In a person's image go on if they end this thread while it
waits: nobody would answer requests for an ended thread."
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
          (*break-on-signals* nil))     ; the person's; a session has its own
      (swank::with-connection (connection)
        (call-with-idle-hooks (lambda () (handle-requests-on connection))))))
  (protect-control-stack))

(defun serving-thread (name)
  "Start a thread called NAME that serves the requests of this connection.  Return its id, or NIL
if it did not start."
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
  "Answer the id of a new SERVING-THREAD, for use as the thread of :EMACS-REX."
  (answer (serving-thread name)))
