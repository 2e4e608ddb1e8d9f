;;;; checkpoint.lisp -- CHECKPOINT: a copy of the image as it is now

(cl:in-package #:swank-mcp)

(defun flush-output ()
  "Write what is buffered: a copy would write it, too."
  (ignore-errors (finish-output sb-sys:*stdout*))
  (ignore-errors (finish-output sb-sys:*stderr*)))

(defun reply-from-main (connection id datum)
  "Answer the request ID of the bridge's: the thread that has taken it has ended."
  (swank::encode-message
   (list :return (list :ok (list (with-output-to-string (out) (write-datum datum out)) "")) id)
   (swank::connection.socket-io connection)))

(defun fork-paused (left)
  "Copy the image, in which the threads LEFT did not end.  Return :COPY in the copy, and otherwise the
process in between or an answer of CHECKPOINT's: why there is no copy."
  (if left
      (list :refused "threads did not end" :busy t :names (mapcar #'thread-label left))
      (or (fork-image) :copy)))

(defun live-as-copy (address number pause positions)
  "What the copy does: it waits, and what comes of it works or saves itself."
  (with-own-end
    (let ((command (wait-as-copy address number pause positions)))
      (if (getf command :save)
          (apply #'save-as-copy *own-call* command)
          (work-as-copy command)))))

(defun failed-answer (condition)
  (list :refused (condition-text condition) :busy t))

(defun fork-and-go-on (connection number live-as-copy)
  "Copy the image, whose bridge has CONNECTION, and have the copy call LIVE-AS-COPY.  Return T in the
copy, and otherwise an answer of CHECKPOINT's and, if there is a copy, the process in between."
  (let* ((pause (make-pause :own connection))
         (result (handler-case
                     (let ((left (begin-pause pause)))
                       (flush-output)
                       (let* ((positions (file-positions))
                              (forked (fork-paused left)))
                         (when (eq forked :copy)
                           (funcall live-as-copy pause positions)
                           (return-from fork-and-go-on t))
                         forked))
                   (serious-condition (c) (failed-answer c))))
         (threads (end-pause pause)))
    (if (integerp result)
        (values (list :threads threads :taken number :pid *forked*) result)
        (list* :threads threads result))))

(defun obstacle-in-main (connection timer)
  "PRESENT-OBSTACLE in the main thread, which has stopped TIMER; it settles what alarms have begun."
  (handler-case
      (cond (sbcl:*interrupt-pending*
             (list :refused "the main thread is interrupted" :busy t))
            ((present-obstacle connection))
            (t
             (let ((names (settle-alarms timer
                                         (lambda () (note-ending-threads (serving-threads))))))
               (and names
                    (list :refused "code that interrupted them runs in threads" :names names)))))
    (serious-condition (c) (failed-answer c))))

(defun take-copy (connection id address number restore)
  "In the main thread: copy the image.  The image goes on and answers the request ID of CONNECTION;
the copy waits.  RESTORE goes with the answer.  If something is in the way before any thread has ended,
return an answer of CHECKPOINT's, for the thread that asks.

Interrupts are off: code that interrupts this thread may leave it by a non-local exit, and nobody
would start the threads again."
  (sb-sys:without-interrupts
    (let* ((timer (stop-alarms))
           (obstacle (obstacle-in-main connection timer)))
      (multiple-value-bind (done between)
          (or obstacle
              (fork-and-go-on connection number
                              (lambda (pause positions)
                                (sb-sys:with-local-interrupts
                                  (mask-alarms nil)
                                  (live-as-copy address number pause positions)))))
        (unless (eq done t)
          (unless obstacle
            (try-to #'reply-from-main connection id (list* :restore restore done)))
          ;; The bridge waits for the call of the copy, not for this.
          (when between (ended-well-p between))
          (start-alarms timer)
          ;; What was deferred comes first: it brings back the mask that it has found.
          (unwind-protect (sb-sys:with-local-interrupts nil)
            (sb-sys:with-local-interrupts (mask-alarms nil)))))
      obstacle)))

(defun copy-in-main (connection id address number restore)
  "Have the main thread copy the image.  Returns only if it does not, with an answer of CHECKPOINT's."
  (let ((obstacle nil) (over (sb-thread:make-semaphore)))
    (cond ((boot-call :in-main
                      (lambda ()
                        (setf obstacle (take-copy connection id address number restore))
                        (sb-thread:signal-semaphore over))
                      (make-patience 1/10 (lambda () (list (sb-posix:getpid))) 1/1000))
           (sb-thread:wait-on-semaphore over) ; the main thread ends this one, and answers
           obstacle)
          (t (list :refused "threads of the program are running"
                   :busy t
                   :names (list (thread-label (sb-thread:main-thread))))))))

(defun checkpoint (address number &key (session "default") by-itself)
  "Copy the image.  The copy calls the bridge at the Unix socket ADDRESS as NUMBER.  Answer
(:TAKEN NUMBER :PID PROCESS :THREADS ((OLD-ID NEW-ID) ...)), where the copy is PROCESS, NIL if that is
not known, or (:REFUSED WHY :NAMES (THREAD ...) :BUSY T) where :BUSY is of what passes, or may do so.
With :RESTORE T, AFTER-RESTORE is to be called.  The program's functions are called for SESSION.
BY-ITSELF is true if nobody has asked for the copy."
  (let* ((restore (and (or *before-checkpoint* *after-restore*) t))
         (connection (own-connection))
         (id (first swank::*pending-continuations*))
         (busy (passing-obstacle))
         (trouble (and (not busy) (prepare-checkpoint (ensure-session session) by-itself))))
    (cond (busy (answer (list :refused busy :busy t)))
          (trouble (answer (list :refused trouble :restore t)))
          (t
           (await-end-of-threads (cond ((not *before-checkpoint*) 4/100)
                                       (by-itself 2/10)
                                       (t *hook-seconds*)) ; worth the same patience as the functions
                                 :told *before-checkpoint*)
           (answer (list* :restore restore
                          (or (present-obstacle connection)
                              (copy-in-main connection id address number restore))))))))

(defun keep-for-connection ()
  "Make what the last connection has left in the image this one's."
  (let ((connection (own-connection)))
    (with-lock ()
      (dolist (handle *handles*)
        (when (handle-connection handle) (setf (handle-connection handle) connection)))
      (dolist (trace *traced*)
        (setf (fourth trace) connection)))))

(defun resume-timers ()
  "Start the system's timer.  What ran in a session's thread runs in the main thread until the session
has one again."
  (dolist (ended *ended*)
    (move-timers ended (sb-thread:main-thread)))
  (rearm-timers))

(defun resume-copy (name)
  "Set up a copy that works now, on its new connection.  Answer the id of a SERVING-THREAD called
NAME."
  (await-own-connection)
  (keep-for-connection)
  (let ((id (serving-thread name)))
    (resume-timers)
    (answer id)))

(defun resume-core ()
  "Set up an image that was started from a core of SAVE-AS-COPY."
  (await-own-connection)
  (setf *late-output* sb-sys:*stdout*
        (sb-ext:bytes-consed-between-gcs) *nursery-saved*)
  (start-heap-watcher)
  (resume-timers)
  (keep-for-connection)
  (answer t))
