;;;; heap.lisp -- a soft limit on the heap

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during garbage collection:
;;; the collector needs room to copy into.  In an image that is ours a watcher
;;; is woken after each collection and ends the evaluations in progress, or the
;;; threads that evaluations have left, when less room is left than the next
;;; collection may need.
;;;
;;; How much that is depends on the objects.  Copying doubles what is live, and
;;; objects of a little more than one page leave half of every second page
;;; empty, which doubles it again; only those of four pages and more stay where
;;; they are.  So a quarter of the heap would be the limit in the worst case.

(defparameter *heap-limit* 23/100
  "Share of the dynamic space that may be live after a collection.")

(defparameter *nursery* (* 50 1024 1024)
  "Bytes allocated between collections, so that the watcher sees a heap fill up.")

(defun heap-used () #+sbcl (sb-kernel:dynamic-usage) #-sbcl 0)
(defun heap-size () #+sbcl (sb-ext:dynamic-space-size) #-sbcl 0)

(defun heap-full-p ()
  (> (heap-used) (* *heap-limit* (heap-size))))

(defun heap-text (what)
  "WHAT says who was ended."
  (format nil "The heap is nearly exhausted: ~:D MB are live, and of its ~:D MB a garbage collection ~
               may need the rest to copy into. ~A was ended; what only it held is garbage."
          (floor (heap-used) 1000000) (floor (heap-size) 1000000) what))

#+sbcl
(defvar *collected* nil
  "Semaphore that counts collections after which the heap was too full.")

#+sbcl
(defun after-collection ()
  (when (and *collected* (or *evaluations* *session-threads*) (heap-full-p))
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
  (loop
    (sb-thread:wait-on-semaphore *collected*)
    (loop while (sb-thread:try-semaphore *collected*))
    (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
      (when (and (or evaluations threads) (full-of-live-objects-p evaluations))
        (end-what-fills evaluations (filling-threads threads (heap-used)))))))

#+sbcl
(defun end-what-fills (evaluations threads)
  "End those that use a processor: what waits does not fill the heap.  Threads have to
go only where no evaluation is left to do it, and these where no thread does."
  (let* ((working (working-threads (append (mapcar #'evaluation-thread evaluations)
                                           (mapcar #'session-thread-thread threads))))
         (threads (remove-if-not (lambda (known) (member (session-thread-thread known) working))
                                 threads))
         (busy (remove-if-not (lambda (evaluation) (member (evaluation-thread evaluation) working))
                              evaluations)))
    (if (and threads (null busy))
        (mapc #'end-filling-thread threads)
        (dolist (evaluation (or busy evaluations))
          (interrupt-evaluation evaluation :heap)))))

#+sbcl
(defun working-threads (threads)
  "Those of THREADS that use a processor now; all of them where that cannot be known."
  (flet ((used (thread)
           (let ((number (ignore-errors (sb-thread:thread-os-tid thread))))
             (or (and number (plusp number) (processor-microseconds number)) 0))))
    (let ((before (mapcar #'used threads)))
      (sleep 0.01)
      (let ((after (mapcar #'used threads)))
        (if (every #'zerop after)
            threads
            (loop for thread in threads
                  for was in before
                  for is in after
                  when (> is (+ was 500)) collect thread))))))

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
