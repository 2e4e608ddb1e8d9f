;;;; obstacles.lisp -- why the image cannot be copied
;;;;
;;;; All this is looked for twice: by the thread that is asked for a copy, and by the main thread
;;;; before it ends any thread.

(cl:in-package #:swank-mcp)

(defun passing-thread-p (thread)
  "True of a thread of ours that has something to do and then ends."
  (let ((name (thread-label thread)))
    (and (starts-with "swank-mcp" name)
         (not (starts-with "swank-mcp session" name))
         (not (find name '("swank-mcp look-ups" "swank-mcp looking" "swank-mcp heap watch"
                           "swank-mcp lifetime")
                    :test #'string=)))))

(defun users-threads ()
  "The threads of the program's, which a copy would not have."
  (remove-if-not (lambda (thread) (eq :user (thread-role thread))) (other-threads)))

(defun finalizing-p ()
  "True while a finalizer runs: to fork is to wait for its end."
  (and (typep sbcl:*finalizer-thread* 'sb-thread:thread)
       (sb-thread:symbol-value-in-thread 'sbcl:*in-a-finalizer* sbcl:*finalizer-thread* nil)))

(defun passing-obstacle ()
  "Why the image cannot be copied now but soon, a text, or NIL."
  (cond (*evaluations* "an evaluation is not at its end")
        ((find "swank-mcp hooks" (other-threads) :key #'thread-label :test #'string=)
         "a function that is called before or after a checkpoint has not come to its end")
        ((find-if #'passing-thread-p (other-threads)) "the bridge has work in it")
        ((finalizing-p) "a finalizer of the program's runs")))

(defun foreign-threads ()
  "How many threads of this process are not Lisp's; 0 where the system does not tell."
  #+linux
  (let ((all (- (length (ignore-errors (directory-entries "/proc/self/task"))) 2)) ; . and ..
        (lisps (sb-thread:list-all-threads)))
    (when (typep sbcl:*finalizer-thread* 'sb-thread:thread)
      (pushnew sbcl:*finalizer-thread* lisps))
    (max 0 (- all (length lisps))))
  #-linux 0)

(defun foreign-obstacle ()
  "A text about threads that are not Lisp's, or NIL.  The system may still have one of Lisp's that
has just ended."
  (loop repeat 50
        for count = (foreign-threads)
        while (plusp count)
        do (sleep 0.002)
        finally (when (plusp count)
                  (return (format nil "foreign code has started threads (~D)" count)))))

(defun await-end-of-threads (&key told)
  "Return after a moment in which a worker of Swank's that has answered ends, what passes passes, and
any thread ends if they were TOLD to."
  (loop repeat (if told 100 20)
        for threads = (users-threads)
        while (or (passing-obstacle)
                  (and threads
                       (or told (find "worker" threads :key #'thread-label :test #'string=))))
        do (sleep 0.002)))

(defun other-connections (own)
  "The connections that are not OWN, the bridge's."
  (remove own (live-connections)))

(defun present-obstacle (connection)
  "Why the image cannot be copied, whose bridge has CONNECTION: an answer of CHECKPOINT's, or NIL."
  (let* ((busy (passing-obstacle))
         (threads (and (not busy) (users-threads)))
         (foreign (and (not busy) (not threads) (foreign-obstacle))))
    (cond (busy (list :refused busy :busy t))
          (threads
           (list :refused "threads of the program are running"
                 :names (mapcar #'thread-label threads)))
          ((other-connections connection)
           (list :refused "another client of Swank, such as an Emacs, is connected with it"))
          (foreign (list :refused foreign)))))
