;;;; threads.lisp -- what a thread is called, and those that a session's code has started

(cl:in-package #:swank-mcp)

(defun thread-number (thread)
  "The number that Swank knows THREAD by, for as long as it lives.  Newer ones take
the system's, which a thread that has just begun or ended does not have: 0."
  (or (swank/backend:thread-id thread) 0))

(defun thread-label (thread)
  (let ((name (swank/backend:thread-name thread)))
    (clip (if (stringp name) name (princ-to-string name)) 80)))

(defun thread-evaluation (thread)
  (with-lock () (find thread *evaluations* :key #'evaluation-thread)))

(defun main-thread-p (thread)
  #+sbcl (eq thread (sb-thread:main-thread)) #-sbcl (progn thread nil))

(defun thread-role (thread)
  "(VALUES ROLE TEXT): :MAIN, :SESSION, :BRIDGE, :SWANK, :SYSTEM or :USER, and what to
say of it."
  (let ((name (thread-label thread)))
    (cond ((main-thread-p thread) (values :main "the image's main thread"))
          ((thread-evaluation thread) (values :session "a session's, busy"))
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
      ;; a name that programs use, too
      (and (string= name "worker") (swank-worker-p thread))))

(defun swank-worker-p (thread)
  (let ((threads (find-symbol "MCONN.ACTIVE-THREADS" '#:swank)))
    (and threads (fboundp threads)
         (some (lambda (connection) (find thread (ignore-errors (funcall threads connection))))
               swank::*connections*))))

;;; Those that a session's code has started: see session-threads.lisp

#+sbcl
(defstruct (session-thread (:copier nil))
  "A THREAD that code of SESSION started when the heap had BASE bytes in it."
  thread session base (stopped nil))

#+sbcl
(defvar *session-threads* '()
  "Those that may live.")

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
