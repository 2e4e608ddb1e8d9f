;;;; heap.lisp -- a soft limit on the heap

(cl:in-package #:swank-mcp)

;;; In an image that is ours a watcher is woken after each collection and ends the
;;; evaluations in progress, or the threads that evaluations have left, when less room is
;;; left than the next collection may need (see filling.lisp).  Code that has interrupts off
;;; wakes nobody when it has collected, so the watcher looks by itself, too.

(defparameter *nursery* (* 50 1024 1024)
  "Bytes allocated between collections, so that the watcher sees a heap fill up.")

#+sbcl
(defvar *collected* nil
  "Semaphore that counts collections after which the heap was too full.")

#+sbcl
(defun code-runs-p ()
  (or *evaluations* *session-threads*))

#+sbcl
(defun after-collection ()
  (when (and *collected* (code-runs-p) (heap-full-p))
    (sb-thread:signal-semaphore *collected*)))

#+sbcl
(defvar *last-full-collection* 0
  "When the watcher last collected all generations, see MICROSECONDS.")

#+sbcl
(defun full-of-live-objects-p (evaluations)
  "True if the heap is too full with garbage of older generations collected, too.
That takes time; when it has just been done, what fills the heap again is live, unless
one of EVALUATIONS has begun since: it may be what the one before it has left."
  (and (heap-full-p)
       (or (and (< (- (microseconds) *last-full-collection*) 1000000)
                (every (lambda (evaluation)
                         (< (evaluation-started evaluation) *last-full-collection*))
                       evaluations))
           (progn (sb-ext:gc :full t)
                  (setf *last-full-collection* (microseconds))
                  (heap-full-p)))))

#+sbcl
(defun watch-heap ()
  "Runs in a thread of its own for ever."
  (let ((collecting sb-ext:*gc-run-time*) (signalled nil) (times '()) (taken 0))
    (loop
      (setf signalled (sb-thread:wait-on-semaphore *collected* :timeout (if (code-runs-p) 1/100 1/5)))
      (loop while (sb-thread:try-semaphore *collected*))
      (when (code-runs-p)
        (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
          (when (and (or signalled (/= collecting sb-ext:*gc-run-time*))
                     (heap-full-p)
                     (or evaluations threads)
                     (full-of-live-objects-p evaluations))
            (end-what-fills evaluations (filling-threads threads (heap-used)) times))
          (when (> (microseconds) (+ taken 8000))
            (setf times (processor-times evaluations threads)
                  taken (microseconds)))))
      (setf collecting sb-ext:*gc-run-time*))))

#+sbcl
(defun processor-time (thread)
  (let ((number (ignore-errors (sb-thread:thread-os-tid thread))))
    (or (and number (plusp number) (processor-microseconds number)) 0)))

#+sbcl
(defun processor-times (evaluations threads)
  "((THREAD . MICROSECONDS) ...) of those that may fill the heap."
  (loop for thread in (append (mapcar #'evaluation-thread evaluations)
                              (mapcar #'session-thread-thread threads))
        collect (cons thread (processor-time thread))))

#+sbcl
(defun working-threads (now before)
  "Those that have worked from the processor times BEFORE, in which one that is new is not,
to those of NOW, as opposed to those that were only stopped and woken by the collector; all
of them where that cannot be known."
  (let* ((used (loop for (thread . time) in now
                     collect (cons thread (- time (or (cdr (assoc thread before)) 0)))))
         (most (reduce #'max used :key #'cdr :initial-value 0)))
    (if (every #'zerop (mapcar #'cdr now))
        (mapcar #'car now)
        (loop for (thread . time) in used
              when (>= time (max 1 (floor most 4))) collect thread))))

#+sbcl
(defun end-filling-threads (threads)
  "What they leave is collected at once: it is not to count as what a later one found."
  (mapc #'end-filling-thread threads)
  (loop repeat 100
        unless (some #'sb-thread:thread-alive-p (mapcar #'session-thread-thread threads))
          return (sb-ext:gc :full t)
        do (sleep 0.002)))

#+sbcl
(defun end-what-fills (evaluations threads times)
  "End those that have worked since TIMES were taken: what waits does not fill the heap.
Threads have to go only where no evaluation is left to do it; a suspended one only where
nothing else is."
  (let* ((working (working-threads (processor-times evaluations threads) times))
         (filling (remove-if-not (lambda (known) (member (session-thread-thread known) working))
                                 threads))
         (busy (remove-if-not (lambda (evaluation) (member (evaluation-thread evaluation) working))
                              evaluations)))
    (if (and filling (null busy))
        (end-filling-threads filling)
        (dolist (evaluation (or busy evaluations))
          (if (stays-uninterruptible-p (evaluation-thread evaluation))
              (end-filling-evaluation evaluation)
              (interrupt-evaluation evaluation :heap))))))

(defun start-heap-watch ()
  "For launched images only: it adds an entry to SB-EXT:*AFTER-GC-HOOKS* and
makes collections more frequent in a large heap."
  #+sbcl
  (unless *collected*
    (setf *collected* (sb-thread:make-semaphore :name "swank-mcp heap"))
    (push 'after-collection sb-ext:*after-gc-hooks*)
    (setf (sb-ext:bytes-consed-between-gcs)
          (min *nursery* (sb-ext:bytes-consed-between-gcs)))
    (swank/backend:spawn #'watch-heap :name "swank-mcp heap watch")))
