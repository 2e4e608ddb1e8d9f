;;;; locks.lisp -- what threads wait for, and who has it

(cl:in-package #:swank-mcp)

(defparameter *system-locks*
  '(("**WORLD-LOCK**" "SBCL's world lock" ", which classes, methods and parts of the compiler need")
    ("*PACKAGE-GRAPH-LOCK*" "the lock of all packages" ""))
  "Locks of the Lisp system for which everybody waits sooner or later, what to call them,
and what to say of them.")

#+sbcl
(defun system-locks ()
  "((MUTEX NAME MORE) ...) of those that this SBCL has."
  (loop for (name . words) in *system-locks*
        for symbol = (or (find-symbol name '#:sb-kernel) (find-symbol name '#:sb-impl))
        when (and symbol (boundp symbol) (typep (symbol-value symbol) 'sb-thread:mutex))
          collect (cons (symbol-value symbol) words)))

#+sbcl
(defun locks-held ()
  "Names of locks of the Lisp system that this thread holds: with one of them in
a suspended thread, the image would soon stand still."
  (loop for (mutex words) in (system-locks)
        when (sb-thread:holding-mutex-p mutex) collect words))

#+sbcl
(defun lock-label (mutex)
  "Calls no method that prints: that may wait for the same lock."
  (let ((name (sb-thread:mutex-name mutex)))
    (cond ((second (assoc mutex (system-locks))))
          ((and name (typep name '(or string symbol))) (format nil "the lock ~S" name))
          (t "a lock without a name"))))

#+sbcl
(defun awaited-lock (thread)
  "(VALUES MUTEX OWNER) of the lock that THREAD waits for; OWNER is NIL where nobody
knows who has it.  The first is NIL where it waits for none.  A thread that is interrupted
does not count as waiting: another one has to ask."
  (let ((what (ignore-errors (sbcl:thread-waiting-for thread))))
    (when (typep what 'sb-thread:mutex)
      (let ((owner (sb-thread:mutex-owner what)))
        (values what (and (typep owner 'sb-thread:thread) owner))))))

(defun waiting-text (thread)
  "What THREAD waits for, and who has it; NIL if it does not wait for a lock."
  #+sbcl
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (cond (mutex
           (format nil "waits for ~A~@[, held by thread ~A~]" (lock-label mutex)
                   (and owner (format nil "~D ~A" (thread-number owner) (thread-label owner)))))
          ((ignore-errors (sbcl:thread-waiting-for thread)) "waits to be woken")))
  #-sbcl (progn thread nil))

(defun lock-text (thread)
  "As WAITING-TEXT, of a lock only."
  #+sbcl (and (awaited-lock thread) (waiting-text thread))
  #-sbcl (progn thread nil))

(defun lock-advice (thread)
  "Sentences about the lock that THREAD waits for: who has it, and what to do; NIL if it
waits for none."
  #+sbcl
  (multiple-value-bind (mutex owner) (awaited-lock thread)
    (when mutex
      (format nil "It waited for ~A~@[~A~].~@[ ~A~]"
              (lock-label mutex) (third (assoc mutex (system-locks)))
              (and owner (holder-advice owner)))))
  #-sbcl (progn thread nil))

#+sbcl
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
  "Answer the advice about the lock for which the thread waits that Swank knows by ID, or \"\"."
  (let ((thread (find id (swank/backend:all-threads) :key #'swank/backend:thread-id)))
    (answer (or (and thread (lock-advice thread)) ""))))
