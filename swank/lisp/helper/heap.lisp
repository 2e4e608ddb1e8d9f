;;;; heap.lisp -- a soft limit on the heap

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during garbage collection:
;;; the collector needs room to copy into.  In an image that is ours a watcher
;;; is woken after each collection and ends the evaluations in progress when
;;; less room is left than the next collection may need.
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

(defun heap-text ()
  (format nil "The heap is nearly exhausted: ~:D MB are live, and of its ~:D MB a garbage collection ~
               may need the rest to copy into. The evaluation was ended; what only it held is garbage."
          (floor (heap-used) 1000000) (floor (heap-size) 1000000)))

#+sbcl
(defvar *collected* nil
  "Semaphore that counts collections after which the heap was too full.")

#+sbcl
(defun after-collection ()
  (when (and *evaluations* *collected* (heap-full-p))
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
    (let* ((evaluations (with-lock () (copy-list *evaluations*)))
           ;; a suspended one only holds memory: it goes when no other is left
           (busy (or (remove-if #'suspendedp evaluations) evaluations)))
      (when (full-of-live-objects-p busy)
        (dolist (evaluation busy)
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
