;;;; alarms.lisp -- the system's timer while the image is copied

(cl:in-package #:swank-mcp)

;;; The timer goes off by SIGALRM, for SBCL's timers or the program's own handler.  In the midst of
;;; a fork the handler would wait for locks that its own thread holds, and a thread that it starts
;;; would be in the copy's list of threads and never end there.  So the timer stands still
;;; meanwhile, and goes off a little later.  A handler that was at work then may set it again, so the
;;; signal is masked, too.

(defun make-itimerval ()
  "A struct itimerval: the interval and the time that is left, in seconds and microseconds."
  (make-array 4 :element-type 'sb-ext:word :initial-element 0))

(defun swap-alarm (new)
  "Set the system's timer to NEW, an itimerval.  Return what it was."
  (let ((old (make-itimerval)))
    (sb-sys:with-pinned-objects (new old)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "setitimer" (function sb-alien:int sb-alien:int
                                                    sb-sys:system-area-pointer
                                                    sb-sys:system-area-pointer))
       0 (sb-sys:vector-sap new) (sb-sys:vector-sap old))) ; ITIMER_REAL
    old))

(defun mask-alarms (blockedp)
  "Have this thread handle SIGALRM later if BLOCKEDP, else from now on."
  (sb-alien:with-alien ((signals (array sb-alien:unsigned-char 128))) ; a sigset_t and more
    (let ((set (sb-alien:alien-sap signals)))
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "sigemptyset" (function sb-alien:int sb-sys:system-area-pointer))
       set)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "sigaddset" (function sb-alien:int sb-sys:system-area-pointer
                                                    sb-alien:int))
       set sb-posix:sigalrm)
      (sb-alien:alien-funcall
       (sb-alien:extern-alien "pthread_sigmask"
                              (function sb-alien:int sb-alien:int sb-sys:system-area-pointer
                                        sb-sys:system-area-pointer))
       (+ (if blockedp 0 1) #-linux 1)  ; SIG_BLOCK or SIG_UNBLOCK
       set (sb-sys:int-sap 0)))))

(defun stop-alarms ()
  "Have no alarm go off.  Return what START-ALARMS is to have."
  (mask-alarms t)
  (swap-alarm (make-itimerval)))

(defun alarm-set-p (itimerval)
  (find-if #'plusp itimerval :start 2))

(defun settle-alarms (left function)
  "Call FUNCTION, which returns NIL when what alarms have begun is done, until that sets the timer no
more.  LEFT becomes what START-ALARMS is to have.  Return what FUNCTION returns."
  (loop repeat 20
        thereis (funcall function)
        do (let ((now (swap-alarm (make-itimerval))))
             (if (alarm-set-p now)
                 (replace left now)
                 (return nil)))))

(defun start-alarms (left)
  "Have the timer go on, unless a handler has set it again."
  (let ((now (swap-alarm left)))
    (when (alarm-set-p now)
      (swap-alarm now))))

(defun rearm-timers ()
  "A copy does not inherit the system's timer.  SBCL sets it when the timer that is due first is
another one: here one that was due before all of the program's, of which some are overdue."
  (let ((timer (sb-ext:make-timer (constantly nil) :thread sb-thread:*current-thread*)))
    (sb-ext:schedule-timer timer (- (get-universal-time) (* 366 24 60 60)) :absolute-p t)
    (sb-ext:unschedule-timer timer)))
