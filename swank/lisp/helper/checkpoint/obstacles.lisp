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

(defun passing-threads ()
  "The threads of which PASSING-OBSTACLE tells."
  (append (with-lock () (mapcar #'evaluation-thread *evaluations*))
          (remove-if-not #'passing-thread-p (other-threads))
          (and (finalizing-p) (list sbcl:*finalizer-thread*))))

(defun known-threads ()
  "Lisp's threads, with the one that runs finalizers."
  (let ((threads (sb-thread:list-all-threads)))
    (if (typep sbcl:*finalizer-thread* 'sb-thread:thread)
        (adjoin sbcl:*finalizer-thread* threads)
        threads)))

(defun process-thread-numbers ()
  "The system's numbers of all threads of this process; none where the system does not tell."
  #+linux
  (loop for name in (ignore-errors (directory-entries "/proc/self/task")) ; . and .. too
        for number = (parse-integer name :junk-allowed t)
        when number collect number)
  #-linux '())

(defun foreign-threads ()
  "How many threads of this process are not Lisp's; 0 where the system does not tell."
  (max 0 (- (length (process-thread-numbers)) (length (known-threads)))))

(defun foreign-obstacle ()
  "A text about threads that are not Lisp's, or NIL.  The system may still have one of Lisp's that
has just ended."
  (unless (await-able (lambda () (zerop (foreign-threads))) 1/10
                      (lambda () (set-difference (process-thread-numbers)
                                                 (mapcar #'thread-system-number (known-threads)))))
    (format nil "foreign code has started threads (~D)" (foreign-threads))))

(defun await-end-of-threads (seconds &key told)
  "Return when a worker of Swank's that has answered has ended, what passes has passed, and the
program's threads have ended if they were TOLD to; or when all these could have done so for SECONDS."
  (flet ((awaited ()
           (let ((threads (users-threads)))
             (append (passing-threads)
                     (and (or told (find "worker" threads :key #'thread-label :test #'string=))
                          threads)))))
    (await-able (lambda () (and (null (passing-obstacle)) (null (awaited))))
                seconds
                (lambda () (mapcar #'thread-system-number (awaited))))))

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
