;;;; threads.lisp -- names and roles of threads; threads that a session's code has started

(cl:in-package #:swank-mcp)

(defun thread-number (thread)
  "Swank's number for THREAD while it lives.  Newer Swanks take the system's, which a thread
that has just begun or ended does not have: then it is 0."
  (or (swank/backend:thread-id thread) 0))

(defun thread-label (thread)
  (let ((name (swank/backend:thread-name thread)))
    (clip (if (stringp name) name (princ-to-string name)) 80)))

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
:ANSWERED, :ENDED, or :SILENT if THREAD has interrupts off, or FUNCTION takes longer than half a
second that THREAD could use."
  (let ((result nil) (done (sb-thread:make-semaphore)))
    (handler-case
        (if (and (interrupt-safely thread
                                   (lambda ()
                                     (setf result (funcall function))
                                     (sb-thread:signal-semaphore done))
                                   :forcep nil)
                 (await-signal done thread 500000))
            (values result :answered)
            (values nil :silent))
      (error () (values nil :ended)))))

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
