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

;;; To copy the image its threads are ended and others take their places: see checkpoint/.  What
;;; SBCL keeps with a thread goes over to its successor, the next thread of its name.

#+sbcl
(defstruct (ended (:copier nil))
  "A THREAD that was or is to be ended, its NAME, its floating-point MODES, and the TIMERS that run in
it."
  name thread modes timers)

#+sbcl
(defvar *ended* '()
  "The ENDEDs that have no successor yet.")

#+sbcl
(defun timer-thread (timer)
  "The thread in which TIMER runs, or T or NIL."
  (and (slot-exists-p timer 'sbcl:thread) (slot-value timer 'sbcl:thread)))

#+sbcl
(defun move-timers (ended thread)
  "Have the timers of ENDED run in THREAD."
  (dolist (timer (ended-timers ended))
    (setf (slot-value timer 'sbcl:thread) thread)))

#+sbcl
(defun ask-ended (ended)
  "Have the thread of ENDED, which has not ended yet, note its modes after what has interrupted it
before.  Return a function that waits for that.  It returns true if the thread does nothing else."
  (let ((idle nil) (done (sb-thread:make-semaphore)))
    (ignore-errors                      ; it has ended
     (sb-thread:interrupt-thread (ended-thread ended)
                                 (lambda ()
                                   (setf (ended-modes ended) (sbcl:get-floating-point-modes)
                                         idle (<= sbcl:*free-interrupt-context-index* 1))
                                   (sb-thread:signal-semaphore done))))
    ;; a busy thread answers at once, too
    (lambda () (and (await-signal done (ended-thread ended) 1000000) idle))))

#+sbcl
(defun note-ending-threads (threads)
  "Note what goes over from THREADS, which serve requests, to their successors.  Return the names of
those that something has interrupted, such as a timer, and that are at work on it."
  (sb-ext:list-all-timers)              ; a timer that is due has interrupted its thread then
  (let* ((endeds (loop for thread in threads
                       collect (make-ended :name (sb-thread:thread-name thread) :thread thread)))
         (busy (loop for ended in endeds
                     for idlep in (mapcar #'ask-ended endeds)
                     unless (funcall idlep) collect (ended-name ended))))
    (unless busy
      (dolist (timer (sb-ext:list-all-timers))
        (let ((ended (find (timer-thread timer) endeds :key #'ended-thread)))
          (when ended (push timer (ended-timers ended)))))
      (setf *ended* endeds))
    busy))

#+sbcl
(defun take-ended (name)
  "The oldest ENDED called NAME, which has its successor now, or NIL."
  (with-lock ()
    (let ((ended (find name *ended* :key #'ended-name :test #'string=)))
      (setf *ended* (remove ended *ended*))
      ended)))

#+sbcl
(defun succeed (ended)
  "Make this thread the successor of ENDED."
  (when (ended-modes ended)
    (apply #'sbcl:set-floating-point-modes (ended-modes ended)))
  (move-timers ended sb-thread:*current-thread*))

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
         #+sbcl (ended (take-ended name))
         #+sbcl (begun (sb-thread:make-semaphore))
         (thread (swank/backend:spawn
                  (lambda ()
                    (setf id (swank/backend:thread-id (swank/backend:current-thread)))
                    #+sbcl (when ended (succeed ended))
                    #+sbcl (sb-thread:signal-semaphore begun)
                    (serve-requests connection))
                  :name name)))
    (note-guest-thread connection thread)
    #+sbcl (await-signal begun thread most-positive-fixnum) ; or it has ended before
    #-sbcl (loop repeat 5000 until id do (sleep 0.001))
    id))

(defun start-thread (name)
  "Answer the id of a new SERVING-THREAD, for use as the thread of :EMACS-REX."
  (answer (serving-thread name)))
