;;;; heap.lisp -- a soft limit on the heap

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during garbage collection:
;;; the collector needs room to copy into.  In an image that is ours a watcher
;;; is woken after each collection and ends the evaluations in progress when
;;; less room is left than the next collection may need.

(defparameter *heap-limit* 45/100
  "Share of the dynamic space that may be live after a collection.")

(defun heap-used () #+sbcl (sb-kernel:dynamic-usage) #-sbcl 0)
(defun heap-size () #+sbcl (sb-ext:dynamic-space-size) #-sbcl 0)

(defun heap-full-p ()
  (> (heap-used) (* *heap-limit* (heap-size))))

(defun heap-text ()
  (format nil "Heap nearly exhausted: ~:D MB of ~:D MB are live, and a garbage collection needs ~
               as much again. The evaluation was ended; what it held is garbage now."
          (floor (heap-used) 1000000) (floor (heap-size) 1000000)))

#+sbcl
(defvar *collected* nil
  "Semaphore that counts collections after which the heap was too full.")

#+sbcl
(defun after-collection ()
  (when (and *evaluations* *collected* (heap-full-p))
    (sb-thread:signal-semaphore *collected*)))

#+sbcl
(defun watch-heap ()
  "Runs in a thread of its own for ever."
  (loop
    (sb-thread:wait-on-semaphore *collected*)
    (when (heap-full-p)
      (dolist (evaluation (with-lock () (copy-list *evaluations*)))
        (interrupt-evaluation evaluation :heap)))))

(defun start-heap-watch ()
  "For launched images only: it adds an entry to SB-EXT:*AFTER-GC-HOOKS*."
  #+sbcl
  (unless *collected*
    (setf *collected* (sb-thread:make-semaphore :name "swank-mcp heap"))
    (push 'after-collection sb-ext:*after-gc-hooks*)
    (swank/backend:spawn #'watch-heap :name "swank-mcp heap watch")))
