;;;; filling.lisp -- ending what fills the heap

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during garbage collection: the collector
;;; needs room to copy into.  So what fills it is ended before: heap.lisp watches in an image
;;; of our own, guest-watch.lisp in a person's.  What they have in common is here: how full is
;;; too full, and how an evaluation or a thread is ended at once.
;;;
;;; How much room a collection needs depends on the objects.  Copying doubles what is live,
;;; and objects of a little more than one page leave half of every second page empty, which
;;; doubles it again; only those of four pages and more stay where they are.  So a quarter of
;;; the heap would be the limit in the worst case.

(defparameter *heap-limit* 23/100
  "Share of the dynamic space that may be live after a collection.")

(defun heap-full-p ()
  (> (heap-used) (* *heap-limit* (heap-size))))

(defun heap-allowed (base)
  "Bytes that may be live where there were BASE before.  A collection may need as much
room as it copies, and twice that for some objects; what is old it copies rarely."
  (let ((size (heap-size)))
    (max (* *heap-limit* size)
         (+ base (max (* *heap-limit* (- (/ size 2) base))
                      (* 2/25 (- size base)))))))

(defun note-heap-base (evaluation)
  "Of an EVALUATION that is about to begin."
  (setf (evaluation-heap-base evaluation) (heap-used)))

#+sbcl
(defun busy-evaluations ()
  "Those that may fill the heap; a suspended one only holds what it has."
  (let ((evaluations (with-lock () (copy-list *evaluations*))))
    (or (remove-if #'suspendedp evaluations) evaluations)))

#+sbcl
(defun filling-threads (threads left)
  "Those of THREADS that may have made of the heap what a collection has LEFT of it."
  (remove-if-not (lambda (known) (> left (heap-allowed (session-thread-base known)))) threads))

#+sbcl
(defun end-filling-evaluation (evaluation)
  (unless (stop-suspended evaluation :heap)
    (interrupt-soon (evaluation-thread evaluation) (lambda () (stop-here evaluation :heap)))))

#+sbcl
(defun stays-uninterruptible-p (thread)
  "True if THREAD has interrupts off for longer than SBCL has them off for itself."
  (loop repeat 10
        always (and (sb-thread:thread-alive-p thread)
                    (null (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread t)))
        do (sleep 0.001)))

#+sbcl
(defun switch-interrupts-on (thread)
  "SBCL has them off, by a binding of its own, while it collects and a little longer:
what is switched on then is off again when that ends, and has to be once more."
  (flet ((onp () (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread t)))
    (loop repeat 10
          do (setf (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread) t)
             (sleep 0.001)
          until (onp))))

#+sbcl
(defun interrupt-soon (thread function)
  "As INTERRUPT-SAFELY, which may wait too long for a heap that fills up.  Code that has
switched interrupts off is interrupted all the same: what it leaves half done is less
than an image that is gone.  They have to be on before an interrupt is sent: one that
waits already is not looked at before the next collection, which may be one too many."
  (let ((begun nil))
    (ignore-errors                      ; THREAD may have ended
     (when (stays-uninterruptible-p thread) (switch-interrupts-on thread))
     (interrupt-safely thread (lambda () (setf begun t) (funcall function)) :urgentp t)
     (loop repeat 20
           until (or begun (not (sb-thread:thread-alive-p thread)))
           do (if (stays-uninterruptible-p thread)
                  (switch-interrupts-on thread)
                  (sleep 0.001))))))

#+sbcl
(defun end-filling-thread (known)
  (unless (session-thread-stopped known)
    (setf (session-thread-stopped known) t)
    (note-news (session-thread-session known)
               (format nil "~A was ended. ~A" (thread-words (session-thread-thread known)) (heap-text "The thread"))))
  (interrupt-soon (session-thread-thread known) #'sb-thread:abort-thread))
