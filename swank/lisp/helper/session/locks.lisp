;;;; locks.lisp -- locks that threads wait for, and who holds them

(cl:in-package #:swank-mcp)

(defparameter *system-locks*
  '(("**WORLD-LOCK**" "SBCL's world lock" ", which classes, methods and parts of the compiler need")
    ("*PACKAGE-GRAPH-LOCK*" "the lock of all packages" ""))
  "(VARIABLE NAME REMARK) of locks of the Lisp system that every thread needs at some time.")

(defun system-locks ()
  "((MUTEX NAME REMARK) ...) of those that this SBCL has."
  (loop for (name . words) in *system-locks*
        for lock = (or (named-value '#:sb-kernel name) (named-value '#:sb-impl name))
        when (typep lock 'sb-thread:mutex) collect (cons lock words)))

(defun locks-held ()
  "The names of the system locks that this thread holds.  If a suspended thread held one, the
image would soon come to a standstill."
  (loop for (mutex words) in (system-locks)
        when (sb-thread:holding-mutex-p mutex) collect words))

(defun lock-label (mutex)
  "How to name MUTEX.  This calls no printing method: it might wait for the same lock."
  (let ((name (sb-thread:mutex-name mutex)))
    (cond ((second (assoc mutex (system-locks))))
          ((and name (typep name '(or string symbol))) (format nil "the lock ~S" name))
          (t "a lock without a name"))))

(defun awaited-lock (thread)
  "(VALUES MUTEX OWNER) of the lock that THREAD waits for, or NIL; OWNER is NIL if unknown.
A thread that is being interrupted does not count as waiting, so another one has to ask."
  (let ((what (ignore-errors (sbcl:thread-waiting-for thread))))
    (when (typep what 'sb-thread:mutex)
      (let ((owner (sb-thread:mutex-owner what)))
        (values what (and (typep owner 'sb-thread:thread) owner))))))

(defun waiting-text (thread)
  "What THREAD waits for and who holds it, in words; NIL if it does not wait."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (cond (mutex
           (format nil "waits for ~A~@[, held by thread ~A~]" (lock-label mutex)
                   (and owner (format nil "~D ~A" (thread-number owner) (thread-label owner)))))
          ((ignore-errors (sbcl:thread-waiting-for thread)) "waits to be woken"))))

(defun lock-text (thread)
  "WAITING-TEXT if THREAD waits for a lock, else NIL."
  (and (awaited-lock thread) (waiting-text thread)))

(defun lock-advice (thread)
  "Sentences about the lock that THREAD waits for: who holds it and what to do.  NIL if it waits
for none."
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (when mutex
      (format nil "It waited for ~A~@[~A~].~@[ ~A~]"
              (lock-label mutex) (third (assoc mutex (system-locks)))
              (and owner (holder-advice owner))))))

(defun holder-advice (owner)
  (let* ((number (thread-number owner)) (evaluation (thread-evaluation owner)))
    (format nil "The thread ~D ~S holds it~@[, which itself ~A~]. ~A" number (thread-label owner)
            (lock-text owner)
            (cond ((and evaluation (suspendedp evaluation))
                   "An evaluation is suspended in it: session-status lists that, and abort-evaluation ends it.")
                  (evaluation
                   (format nil "It evaluates for session ~S: ~A"
                           (session-name (evaluation-session evaluation))
                           (clip (princ-to-string (evaluation-code evaluation)) 80)))
                  ((not (eq :user (thread-role owner)))
                   (format nil "It is ~A." (nth-value 1 (thread-role owner))))
                  ((or *launched* (find owner (live-session-threads) :key #'session-thread-thread))
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is; with \"action\": \"abort\" it ends the thread, and the lock is free."
                           number))
                  (t
                   (format nil "interrupt-thread {\"thread\": \"~D\"} shows where that is. It is none that this session has started: ask the person whose Lisp this is before you end it."
                           number))))))

(defun waits-for (id)
  "Answer LOCK-ADVICE about the thread with Swank's ID, or \"\"."
  (let ((thread (find id (swank/backend:all-threads) :key #'swank/backend:thread-id)))
    (answer (or (and thread (lock-advice thread)) ""))))
