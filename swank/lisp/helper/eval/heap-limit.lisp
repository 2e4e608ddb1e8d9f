;;;; heap-limit.lisp -- how full the heap may be, and ending the code that fills it

(cl:in-package #:swank-mcp)

;;; SBCL cannot recover from a heap that fills up during a collection: the collector needs room
;;; to copy into.  So code that fills the heap is ended before that.  heap-watch.lisp watches a
;;; launched image, guest-heap-watch.lisp a person's.  This file has what both need: the limit,
;;; and how an evaluation or a thread is ended at once.
;;;
;;; The room that a collection needs depends on the objects.  Copying doubles what is live.
;;; Objects a little larger than a page leave half of every second page empty, which doubles it
;;; again; only objects of four pages and more are not copied.  So a quarter of the heap is the
;;; limit in the worst case.

(defparameter *heap-limit* 23/100
  "The share of the dynamic space that may be live after a collection.")

(defun heap-full-p ()
  (> (heap-used) (* *heap-limit* (heap-size))))

(defun heap-allowed (base)
  "How many bytes may be live if BASE were live before.  A collection may need as much room as it
copies, and twice that for some objects; it rarely copies old objects."
  (let ((size (heap-size)))
    (max (* *heap-limit* size)
         (+ base (max (* *heap-limit* (- (/ size 2) base))
                      (* 2/25 (- size base)))))))

(defun note-heap-base (evaluation)
  "Remember the heap's use before EVALUATION, which is about to begin."
  (setf (evaluation-heap-base evaluation) (heap-used)))

(defun busy-evaluations ()
  "The evaluations that may fill the heap.  Suspended ones do so only if there are no others."
  (let ((evaluations (with-lock () (copy-list *evaluations*))))
    (or (remove-if #'suspendedp evaluations) evaluations)))

(defun filling-threads (threads left)
  "Those of THREADS that may be the reason that a collection has LEFT so many bytes."
  (remove-if-not (lambda (known) (> left (heap-allowed (session-thread-base known)))) threads))

(defun end-filling-evaluation (evaluation)
  (unless (stop-suspended evaluation :heap)
    (interrupt-soon (evaluation-thread evaluation) (lambda () (stop-here evaluation :heap)))))

(defun stays-uninterruptible-p (thread)
  "True if THREAD has interrupts off for longer than SBCL itself ever has."
  (and (sb-thread:thread-alive-p thread)
       (not (await-state (lambda ()
                           (or (not (sb-thread:thread-alive-p thread))
                               (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread t)))
                         thread 10000))))

(defun await-end-of-thread (thread limit)
  "AWAIT-STATE until THREAD has ended."
  (await-state (lambda () (not (sb-thread:thread-alive-p thread))) thread limit))

(defun switch-interrupts-on (thread)
  "Switch interrupts on in THREAD.  While SBCL collects it binds them off.  If that binding was
changed, they are off again when it ends: so this is repeated."
  (flet ((onp () (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread t)))
    (loop repeat 10
          do (setf (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread) t)
             (sleep 0.001)
          until (onp))))

(defun interrupt-soon (thread function)
  "INTERRUPT-SAFELY, without waiting too long for a heap that fills up.  Code that has switched
interrupts off is interrupted as well: to leave something half done is better than to lose the
image.  Interrupts must be on before one is sent: SBCL looks at a pending one only at the next
collection, which may be one too many."
  (let ((begun nil))
    (ignore-errors                      ; THREAD may have ended
     (when (stays-uninterruptible-p thread) (switch-interrupts-on thread))
     (interrupt-safely thread (lambda () (setf begun t) (funcall function)) :urgentp t)
     (loop with meter = (thread-meter thread)
           for chance = 0 then (+ chance (min 1000 (funcall meter 1000)))
           until (or begun (>= chance 20000) (not (sb-thread:thread-alive-p thread)))
           do (if (stays-uninterruptible-p thread)
                  (switch-interrupts-on thread)
                  (sleep 0.001))))))

(defun end-filling-thread (known)
  (unless (session-thread-stopped known)
    (setf (session-thread-stopped known) t)
    (note-news (session-thread-session known)
               (format nil "~A was ended. ~A" (thread-words (session-thread-thread known)) (heap-text "The thread"))))
  (interrupt-soon (session-thread-thread known) #'sb-thread:abort-thread))
