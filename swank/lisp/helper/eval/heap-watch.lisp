;;;; heap-watch.lisp -- a limit on the heap of a launched image

(cl:in-package #:swank-mcp)

;;; A thread of ours decides what ends if less room is left than the next collection may need (see
;;; heap-limit.lisp): the evaluations in progress, or threads that evaluations have left running.
;;; Threads that have collected wait for it (see heap-filled.lisp).  It also looks by itself, for an
;;; SBCL where these cannot be held.

(defparameter *nursery* (* 50 1024 1024)
  "Bytes allocated between collections: few enough that the watcher sees a heap fill up.")

(defun code-runs-p ()
  (or *evaluations* *session-threads*))

(defvar *last-full-collection* 0
  "The time, see MICROSECONDS, when the watcher last collected all generations.")

(defun full-of-live-objects-p (evaluations)
  "True if the heap is too full after a full collection.  That takes time.  If the last one was
just now, what has filled the heap since is live, unless one of EVALUATIONS has begun later: it
may be garbage of the evaluation before."
  (and (heap-full-p)
       (or (and (< (- (microseconds) *last-full-collection*) 1000000)
                (every (lambda (evaluation)
                         (< (evaluation-started evaluation) *last-full-collection*))
                       evaluations))
           (progn (sb-ext:gc :full t)
                  (setf *last-full-collection* (microseconds))
                  (heap-full-p)))))

(defun watch-heap ()
  "The function of the watcher thread, which never ends."
  (let ((collecting sb-ext:*gc-run-time*) (times '()) (taken 0))
    (loop
      (sb-thread:wait-on-semaphore *collected* :timeout (if (code-runs-p) 1/100 1/5))
      (loop while (sb-thread:try-semaphore *collected*))
      (let ((held *held-threads*))
        (when (code-runs-p)
          (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
            (when (and (or held (/= collecting sb-ext:*gc-run-time*))
                       (heap-full-p)
                       (or evaluations threads)
                       (full-of-live-objects-p evaluations))
              (end-heap-fillers evaluations threads times))
            (when (> (microseconds) (+ taken 8000))
              (setf times (processor-times evaluations threads)
                    taken (microseconds)))))
        (mapc #'let-go held))
      (setf collecting sb-ext:*gc-run-time*))))

(defun processor-time (thread)
  (or (processor-microseconds (thread-system-number thread)) 0))

(defun processor-times (evaluations threads)
  "((THREAD . MICROSECONDS) ...) of the threads of EVALUATIONS and THREADS."
  (loop for thread in (append (mapcar #'evaluation-thread evaluations)
                              (mapcar #'session-thread-thread threads))
        collect (cons thread (processor-time thread))))

(defparameter *telling-time* 5000
  "As many microseconds of the processor tell the thread that works from those that the collector
stops and wakes, which use a little time as well.")

(defun times-used (now before)
  "((THREAD . MICROSECONDS) ...) between the processor times BEFORE, which lack new threads, and
NOW; and the most that one has used."
  (let ((used (loop for (thread . time) in now
                    collect (cons thread (- time (or (cdr (assoc thread before)) 0))))))
    (values used (reduce #'max used :key #'cdr :initial-value 0))))

(defun working-threads (evaluations threads before)
  "Those of the threads of EVALUATIONS and of THREADS that have worked since the processor times
BEFORE.  All of them if the times are unknown."
  (loop with idle = 0
        for now = (processor-times evaluations threads)
        for (used most) = (multiple-value-list (times-used now before))
        when (every #'zerop (mapcar #'cdr now))
          return (mapcar #'car now)
        until (>= most *telling-time*)
        unless (find #\R now :key (lambda (thread) (thread-state (thread-system-number (car thread)))))
          do (incf idle)                ; else no processor is free for it
        until (> idle 25)
        do (sleep 0.002)
        finally (return (loop for (thread . time) in used
                              when (>= time (max 1 (floor most 4))) collect thread))))

(defun end-filling-threads (threads)
  "End THREADS and collect their garbage at once, so that nothing else is ended for it."
  (mapc #'end-filling-thread threads)
  (when (every (lambda (known) (await-end-of-thread (session-thread-thread known) 200000)) threads)
    (sb-ext:gc :full t)))

(defun filling-workers (evaluations threads before)
  "The WORKING-THREADS, or those of them that are held, if any are: what was used since BEFORE may be
old."
  (let ((working (working-threads evaluations threads before)))
    (or (remove-if-not #'find-held working) working)))

(defun end-heap-fillers (evaluations threads times)
  "End those that have worked since TIMES were taken: waiting threads do not fill the heap.
Threads are ended only if no evaluation has worked, suspended evaluations only if nothing else
is there."
  (let* ((working (filling-workers evaluations threads times))
         (filling (remove-if-not (lambda (known) (member (session-thread-thread known) working))
                                 threads))
         (busy (remove-if-not (lambda (evaluation) (member (evaluation-thread evaluation) working))
                              evaluations)))
    (if (and filling (null busy))
        (end-filling-threads filling)
        (dolist (evaluation (or busy evaluations))
          (if (or (find-held (evaluation-thread evaluation))
                  (stays-uninterruptible-p (evaluation-thread evaluation)))
              (end-filling-evaluation evaluation)
              (interrupt-evaluation evaluation :heap))))))

(defun start-heap-watcher ()
  (setf *heap-watcher* (swank/backend:spawn #'watch-heap :name "swank-mcp heap watch")))

(defun start-heap-watch ()
  "Begin to watch a launched image: this makes collections more frequent in a large heap."
  (unless *collected*
    (setf *collected* (sb-thread:make-semaphore :name "swank-mcp heap"))
    (look-after-collections (lambda () (when (heap-full-p) (hold-until-decided))))
    (setf (sb-ext:bytes-consed-between-gcs)
          (min *nursery* (sb-ext:bytes-consed-between-gcs)))
    (start-heap-watcher)))
