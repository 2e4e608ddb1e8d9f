;;;; interrupts.lisp -- interrupting a thread where it may be interrupted

(cl:in-package #:swank-mcp)

;;; An interrupt may find its thread in foreign code that holds a lock of
;;; foreign code's own.  SBCL with zstd, for one, has debug information
;;; compressed there whenever it compiles, and malloc is locked meanwhile.  To
;;; leave by a non-local exit then leaves the lock held for ever; and to collect
;;; a backtrace means to decompress debug information, for which malloc is asked
;;; again.  Both end in a thread that waits for itself with interrupts off.
;;;
;;; So an interrupt of ours that arrives in foreign code at work does nothing
;;; and is sent again.  Foreign code that waits is found behind the same system
;;; call twice; it may be left, as may Lisp code.

(defparameter *interrupt-patience* 300000
  "For how many microseconds that its thread could use an interrupt is sent again before it is
carried out in foreign code at work: code that never ends must be stopped, too.")

(defparameter *interrupt-tries* 100
  "How often an interrupt must have found foreign code at work before it is carried
out there: on a busy machine few arrive while the patience lasts.  Code that calls
malloc over and over is in it three times of four, and was found there thirty times in
a row.")

#+sbcl
(defun foreign-address ()
  "In an interrupt: the address at which it arrived, if that is in foreign code."
  (let ((depth sbcl:*free-interrupt-context-index*))
    (when (plusp depth)
      ;; Without these, in some later SBCL, interrupts work as SBCL's do.
      (let* ((context (sbcl:nth-interrupt-context (1- depth)))
             (pc (and context (sbcl:context-pc context))))
        (unless (or (null pc) (sbcl:code-header-from-pc pc))
          (sb-sys:sap-int pc))))))

#+sbcl
(defun system-call-p (address)
  "True if the instruction before ADDRESS may be a system call, or that at ADDRESS: the system has
some calls repeated, such as the wait for a condition without a time limit."
  #+x86-64
  (flet ((call-at-p (address)
           (let ((sap (sb-sys:int-sap address)))
             (and (= #x0F (sb-sys:sap-ref-8 sap 0))
                  (= #x05 (sb-sys:sap-ref-8 sap 1))))))
    (or (call-at-p (- address 2)) (call-at-p address)))
  #-x86-64
  (progn address t))

#+sbcl
(defstruct (interrupt (:copier nil))
  (state :sent :type t)                 ; then :LEFT-ALONE, :DONE or an address
  (arrived (sb-thread:make-semaphore) :read-only t))

#+sbcl
(defun send-interrupt (interrupt thread function address &key forcep urgentp)
  "Have THREAD call FUNCTION, unless INTERRUPT finds it in foreign code that does
not wait at ADDRESS; with T, wherever it is.  The state of INTERRUPT tells.  If nobody
is there any more to send another one, FORCEP has foreign code left, too, that has waited
all the time, and URGENTP any."
  (sb-thread:interrupt-thread
   thread
   (lambda ()
     (let* ((here (foreign-address))
            (nowp (or (null here) (eq address t)
                      (and (eql here address) (system-call-p here))
                      (and (not (eq :sent (sb-ext:compare-and-swap (interrupt-state interrupt) :sent here)))
                           (or urgentp (and forcep (system-call-p here)))))))
       (when nowp (setf (interrupt-state interrupt) :done))
       (sb-thread:signal-semaphore (interrupt-arrived interrupt))
       (when nowp (funcall function))))))

#+sbcl
(defun await-interrupt (interrupt thread limit)
  "Wait until INTERRUPT has arrived, unless THREAD could use LIMIT microseconds before: then it has
interrupts off.  Return its state, :SENT if it has not arrived."
  (await-signal (interrupt-arrived interrupt) thread limit)
  (sb-ext:compare-and-swap (interrupt-state interrupt) :sent :left-alone))

(defun interrupt-safely (thread function &key (forcep t) urgentp)
  "Have THREAD call FUNCTION, which may collect a backtrace or leave by a
non-local exit, as soon as it has interrupts on; waits for it no longer than
a quarter of a second that THREAD could use.  Without FORCEP, which is for what must
happen, FUNCTION is not called at all where foreign code stays at work.  With URGENTP it is called
there soon: what foreign code leaves locked is less than an image that is lost.
An interrupt that arrives when nobody waits for it any more does nothing in foreign
code at work, and the caller has to ask again.  Return NIL if THREAD was seen to run with
interrupts off: FUNCTION was not called yet.  An error if THREAD has ended."
  #-sbcl (progn forcep urgentp (swank/backend:interrupt-thread thread function) t)
  #+sbcl
  (loop with patience = (if urgentp 20000 *interrupt-patience*)
        with meter = (thread-meter thread)
        with address = nil
        for tries from 0
        for chance = 0 then (+ chance (funcall meter 1000))
        for late = (and (> chance patience)
                        (or (not forcep) (>= tries (if urgentp 30 *interrupt-tries*))))
        for interrupt = (make-interrupt)
        while (or forcep (not late))
        do (send-interrupt interrupt thread function (or late address) :forcep forcep :urgentp urgentp)
           (setf address (await-interrupt interrupt thread (if urgentp 20000 250000)))
           ;; What comes while the thread leaves this one is nested in it, and SBCL ends at the
           ;; eighth level; and foreign code at work is to go on a little.
           (sleep 0.001)
        while (integerp address)
        finally (return (not (eq address :sent)))))
