
(defun thread-evaluation (thread)
  (with-lock () (find thread *evaluations* :key #'evaluation-thread)))

(defun main-thread-p (thread)
  #+sbcl (eq thread (sb-thread:main-thread)) #-sbcl (progn thread nil))

(defun thread-role (thread)
  "(VALUES ROLE TEXT): ROLE is :MAIN, :SESSION, :BRIDGE, :SWANK, :SYSTEM or :USER; TEXT says
so in words."
  (let ((name (thread-label thread)))
    (cond ((main-thread-p thread) (values :main "the image's main thread"))
          ((thread-evaluation thread)
           (if (thread-of-program-p (thread-evaluation thread))
               (values :user "the program's, suspended at an error")
               (values :session "a session's, busy")))
          ((starts-with "swank-mcp session" name) (values :session "a session's, idle"))
          ((starts-with "swank-mcp" name) (values :bridge "the bridge's"))
          ((swank-thread-p thread name) (values :swank "Swank's"))
          ((string= name "finalizer")
           (values :system "the Lisp system's"))
          (t (values :user "the program's")))))

(defun swank-thread-p (thread name)
  (or (find name '("Swank Sentinel" "reader-thread" "control-thread" "auto-flush-thread"
                   "swank-indentation-cache-thread" "repl-thread")
            :test #'string=)
      (starts-with "Swank " name)
      ;; programs use this name as well
      (and (string= name "worker") (swank-worker-p thread))))

(defun swank-worker-p (thread)
  (let ((threads (named-function '#:swank "MCONN.ACTIVE-THREADS")))
    (and threads
         (some (lambda (connection) (find thread (ignore-errors (funcall threads connection))))
               swank::*connections*))))

#+sbcl
(defun ask-thread (thread function)
  "(VALUES RESULT STATE): what FUNCTION returns when THREAD is interrupted with it.  STATE is
:ANSWERED, :SILENT if it takes longer than half a second, or :ENDED."
  (let ((result nil) (done (sb-thread:make-semaphore)))
    (handler-case
        (interrupt-safely thread
                          (lambda ()
                            (setf result (funcall function))
                            (sb-thread:signal-semaphore done))
                          :forcep nil)
      (error () (return-from ask-thread (values nil :ended))))
    (if (sb-thread:wait-on-semaphore done :timeout 1/2)
        (values result :answered)
        (values nil :silent))))

;;; Threads that a session's code has started: see session-threads.lisp

#+sbcl
(defstruct (session-thread (:copier nil))
  "A THREAD that code of SESSION started.  BASE is the heap's use in bytes at that time."
  thread session base (stopped nil))

#+sbcl
(defvar *session-threads* '()
  "The SESSION-THREADs that may still be alive.")

#+sbcl
(defun thread-words (&optional (thread sb-thread:*current-thread*))
  (format nil "~:[A thread without a name~;The thread ~:*~S~], which this session's code has started,"
          (and (sb-thread:thread-name thread) (thread-label thread))))

#+sbcl
(defun live-session-threads ()
  (with-lock ()
    (setf *session-threads*
          (delete-if-not (lambda (known) (sb-thread:thread-alive-p (session-thread-thread known)))
                         *session-threads*))
    (copy-list *session-threads*)))
