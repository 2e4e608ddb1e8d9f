;;;; pausing.lisp -- ending the threads of Swank's and of ours for a moment, and starting them again
;;;;
;;;; The folder checkpoint/ makes copies of a launched image by fork.  A copy has everything but
;;;; threads, so an image is copied only while its main thread is the only one: the threads that
;;;; serve the bridge end before and are started again afterwards, on the same connection.  The
;;;; main thread does this, when boot.lisp's IDLE lets it.  The folder uses every other one.  Begin
;;;; here, then read alarms.lisp, obstacles.lisp, copies.lisp, hooks.lisp and checkpoint.lisp.
;;;;
;;;; Nobody has asked for most copies.  So whatever is in the way is looked for before anything
;;;; ends, the image goes on whatever fails, and the bridge always gets an answer.

(cl:in-package #:swank-mcp)

(defvar *boot* '()
  "A property list of functions of boot.lisp, which sets it: :IN-MAIN has the main thread call a
function, and returns NIL if a second function says before that it does something else; :STOP-WATCHING ends the thread that ends the
image with the bridge, and :WATCH starts it, both without arguments; :START-CLEAN has the threads that
a function starts mask no signal; :SERVE serves Swank, on a socket of that name if it gets one; :SAVE
saves the image to a file.")

(defun boot-call (name &rest arguments)
  (apply (getf *boot* name) arguments))

;;; Threads

(defun other-threads ()
  (remove sb-thread:*current-thread* (sb-thread:list-all-threads)))

(defparameter *ending-seconds* 2
  "For how long threads that are to end may be able to, and not do it.")

(defun end-threads (threads)
  "End THREADS, and return those that could have ended for *ENDING-SECONDS* and are still there.  One
that was just leaving a non-local exit of its own may miss that it is to end, so it is told again."
  (loop with over = (make-patience *ending-seconds*
                                   (lambda () (mapcar #'thread-system-number threads))
                                   1/4)
        while threads
        do (dolist (thread threads)
             (ignore-errors (sb-thread:terminate-thread thread)))
           (dolist (thread threads)
             (sb-thread:join-thread thread :default nil :timeout 1/4))
           (setf threads (remove-if-not #'sb-thread:thread-alive-p threads))
        until (funcall over))
  threads)

;;; What serves the bridge

(defun live-connections ()
  (remove-if-not #'connectedp swank::*connections*))

(defun serving-threads ()
  "The threads that serve requests of the bridge's."
  (remove-if-not (lambda (thread)
                   (let ((name (sb-thread:thread-name thread)))
                     (or (starts-with "swank-mcp session" name)
                         (find name '("swank-mcp look-ups" "swank-mcp looking") :test #'equal))))
                 (other-threads)))

(defstruct (pause (:copier nil))
  "What ended: the CONNECTIONS whose threads did, of which OWN is the bridge's, and the threads that
served it, SERVING: ((ID . NAME) ...)."
  own connections serving)

(defun begin-pause (pause)
  "End all threads but this one and the program's, and note them in PAUSE.  Return the threads that
are there then, too."
  (let ((serving (serving-threads)))
    (setf (pause-connections pause) (live-connections)
          (pause-serving pause)
          (loop for thread in serving
                collect (cons (swank/backend:thread-id thread) (sb-thread:thread-name thread)))))
  (boot-call :stop-watching)
  ;; the others report to these that they end, and the bridge would be told
  (end-threads (remove nil (mapcar #'control-thread (pause-connections pause))))
  (flet ((finalizerp (thread)
           (string= "finalizer" (thread-label thread)))) ; fork sees to it
    (end-threads (remove-if (lambda (thread)
                              (or (finalizerp thread) (eq :user (thread-role thread))))
                            (other-threads)))
    (remove-if #'finalizerp (other-threads))))

(defun forget-sentinel ()
  "Older Swanks have a thread that keeps their tables of servers and connections."
  (let ((register (named-function '#:swank/backend "REGISTER-THREAD"))
        (sentinel (named-symbol '#:swank "SENTINEL")))
    (when (and register sentinel) (funcall register sentinel nil))))

(defun restart-sentinel ()
  (let ((start (named-function '#:swank "START-SENTINEL")))
    (forget-sentinel)
    (when start (funcall start))))

(defun restart-server (server)
  "Accept connections again at SERVER, an entry of SWANK::*SERVERS*, (SOCKET PORT THREAD)."
  (let ((socket (first server)))
    (setf (third server)
          (swank/backend:spawn (lambda () (loop (swank::accept-connections socket :spawn t)))
                               :name (format nil "Swank ~S" (second server))))))

(defun watch-again ()
  "Start the threads that look after the image."
  (boot-call :watch)
  (start-heap-watcher))

(defun try-to (function &rest arguments)
  "Apply FUNCTION.  An error is reported and does not keep the rest of an image from being started."
  (handler-case (apply function arguments)
    (error (c)
      (ignore-errors
       (format sb-sys:*stderr* "~&; after a checkpoint: ~A~%" (condition-text c))
       (finish-output sb-sys:*stderr*))
      nil)))

(defun start-again (pause)
  "Start again what PAUSE has ended.  Return ((OLD-ID NEW-ID) ...) of the serving threads."
  (try-to #'watch-again)
  (try-to #'restart-sentinel)
  (dolist (server swank::*servers*)
    (try-to #'restart-server server))
  (dolist (connection (remove-if-not #'control-thread (pause-connections pause)))
    (try-to #'swank::spawn-threads-for-connection connection))
  (try-to #'forget-dead-mailboxes)
  (let ((swank::*emacs-connection* (pause-own pause)))
    (loop for (id . name) in (pause-serving pause)
          for new = (try-to #'serving-thread name)
          when new collect (list id new))))

(defun end-pause (pause)
  "START-AGAIN in the main thread.  A thread begins with the signals masked that its maker masks, and
SBCL masks those that it defers while interrupts are off: the threads would never get them.  So they
mask none."
  (prog1 (boot-call :start-clean (lambda () (start-again pause)))
    (setf *ended* '())))
