;;;; heap-filled.lisp -- ending the code that fills the heap, at once

(cl:in-package #:swank-mcp)

;;; A thread of a session's code looks at the heap when it has collected, before it allocates more:
;;; so no slowness of the machine lets it get ahead.  SBCL's after-GC hooks are not ours to set, and
;;; it calls none where interrupts are off, so its own function that collects is encapsulated.
;;;
;;; In a launched image, a thread that finds the heap too full is held there until the watching
;;; thread of heap-watch.lisp has decided what ends.

(defvar *looking-at-heap* nil "True in a thread that looks at the heap after a collection.")

(defun call-after-collection (function collect arguments)
  "Apply COLLECT, which is SBCL's SUB-GC, to ARGUMENTS.  If it has collected in a thread of a
session's code, call FUNCTION, which may leave by a non-local exit: SBCL has blocked signals there."
  (let ((collected (apply collect arguments)) (leaving t))
    (when (and collected *noting* (not *looking-at-heap*)
               (not (sb-thread:holding-mutex-p *lock*)))
      (unwind-protect
           (let ((*looking-at-heap* t))
             (funcall function)
             (setf leaving nil))
        (when leaving (sbcl:unblock-deferrable-signals))))
    collected))

(defun look-after-collections (function)
  "Have FUNCTION called by CALL-AFTER-COLLECTION from now on."
  (sbcl:encapsulate 'sbcl:sub-gc 'swank-mcp-heap
                    (lambda (collect &rest arguments)
                      (call-after-collection function collect arguments))))

(defun leave-collections-alone ()
  (sbcl:unencapsulate 'sbcl:sub-gc 'swank-mcp-heap))

(defvar *collected* nil
  "A semaphore, signalled when a thread is held.  NIL in a person's image.")

(defvar *heap-watcher* nil
  "The thread that watches the heap of a launched image, or NIL.")

(sb-ext:defglobal *held-threads* '()
  "The HELD threads.")

(defparameter *hold-limit* 2000000
  "For how many microseconds that the watching thread could use another one is held.  It may own what
the watching thread waits for.")

(defstruct (held (:copier nil))
  (thread sb-thread:*current-thread* :read-only t)
  (decided (sb-thread:make-semaphore) :read-only t)
  (function nil))                       ; that the thread is to call then, or NIL

(defun hold-until-decided ()
  "Wait until the watching thread has decided what ends; call the function that it hands over to this
thread, if any."
  (let ((held (make-held)))
    (sb-ext:atomic-push held *held-threads*)
    (sb-thread:signal-semaphore *collected*)
    (await-signal (held-decided held) *heap-watcher* *hold-limit*)
    (sb-ext:atomic-update *held-threads* (lambda (all) (remove held all)))
    (when (held-function held)
      (funcall (held-function held)))))

(defun find-held (thread)
  (find thread *held-threads* :key #'held-thread))

(defun let-go (held)
  (sb-thread:signal-semaphore (held-decided held)))

(defun call-in-held (thread function)
  "True if THREAD is held, and calls FUNCTION now."
  (let ((held (find-held thread)))
    (when held
      (setf (held-function held) function)
      (let-go held)
      t)))

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
  (unless (call-in-held thread function)
    (let ((begun nil))
      (ignore-errors                    ; THREAD may have ended
       (when (stays-uninterruptible-p thread) (switch-interrupts-on thread))
       (interrupt-safely thread (lambda () (setf begun t) (funcall function)) :urgentp t)
       (loop with meter = (thread-meter thread)
             for chance = 0 then (+ chance (min 1000 (funcall meter 1000)))
             until (or begun (>= chance 20000) (not (sb-thread:thread-alive-p thread)))
             do (if (stays-uninterruptible-p thread)
                    (switch-interrupts-on thread)
                    (sleep 0.001)))))))

(defun tell-of-filling-thread (known)
  (unless (session-thread-stopped known)
    (setf (session-thread-stopped known) t)
    (note-news (session-thread-session known)
               (format nil "~A was ended. ~A" (thread-words (session-thread-thread known)) (heap-text "The thread")))))

(defun end-filling-thread (known)
  (tell-of-filling-thread known)
  (interrupt-soon (session-thread-thread known) #'sb-thread:abort-thread))
