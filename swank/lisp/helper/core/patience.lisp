;;;; patience.lisp -- waiting for threads, with limits that no slow machine reaches

(cl:in-package #:swank-mcp)

;;; A clock goes on while a thread wants a processor and has none, or while the whole process is
;;; stopped.  So a limit on what other threads do counts the time in which they could act: what they
;;; had of a processor, and how long they waited of their own accord.  Then a reason such as "it did
;;; not end" was seen.

(defun thread-state (number)
  "The state in proc(5) of this process's thread of that NUMBER, a character, or NIL if it is unknown.
It makes no stream: those have finalizers, and a copy of the image is made without any."
  #+(and sbcl linux)
  (let ((fd (ignore-errors
             (sb-posix:open (format nil "/proc/self/task/~D/stat" number) sb-posix:o-rdonly)))
        (buffer (make-array 128 :element-type '(unsigned-byte 8))))
    (when fd
      (unwind-protect
           (sb-sys:with-pinned-objects (buffer)
             (let* ((count (ignore-errors (sb-posix:read fd (sb-sys:vector-sap buffer) 128)))
                    (end (and count
                              (position (char-code #\)) buffer :end count :from-end t))))
               (and end (< (+ end 2) count) (code-char (aref buffer (+ end 2))))))
        (sb-posix:close fd))))
  #-(and sbcl linux) (progn number nil))

(defun able-microseconds (waited number before now)
  "Of the microseconds that the caller has WAITED, those in which the thread of that NUMBER could act,
which had had BEFORE of a processor, and has had NOW."
  (let ((state (thread-state number)))
    (if (or (null state) (null now) (find state "SIZX"))
        waited
        (max 0 (min waited (- now (or before 0)))))))

(defun able-meter (numbers)
  "A function of the microseconds for which its caller has waited.  It returns for how many of them all
threads could act whose system's numbers the function NUMBERS returns; all count where there is none."
  (flet ((look ()
           (loop for number in (remove nil (funcall numbers))
                 collect (cons number (processor-microseconds number)))))
    (let ((seen (look)))
      (lambda (waited)
        (let ((now (look)))
          (prog1 (reduce #'min now
                         :key (lambda (thread)
                                (able-microseconds waited (car thread)
                                                   (cdr (assoc (car thread) seen)) (cdr thread)))
                         :initial-value waited)
            (setf seen now)))))))

(defun thread-meter (thread)
  "An ABLE-METER of THREAD alone."
  (let ((numbers (list (thread-system-number thread))))
    (able-meter (lambda () numbers))))

(defun make-patience (seconds numbers pace)
  "A function that is to be called every PACE seconds and returns true when all threads could act for
SECONDS since its first call, whose system's numbers the function NUMBERS returns.  Each call counts
for PACE at most, because this process may have been stopped meanwhile."
  (let ((left (* 1000000 seconds)) (seen nil) (meter nil))
    (lambda ()
      (let ((now (microseconds)))
        (if meter                       ; the time of day may be set
            (decf left (funcall meter (max 0 (min (- now seen) (* 1000000 pace)))))
            (setf meter (able-meter numbers)))
        (setf seen now)
        (<= left 0)))))

(defun await-able (done seconds numbers &optional (pace 1/500))
  "Return what DONE returns when that is true, which is asked every PACE seconds, or NIL when all
threads could act for SECONDS whose system's numbers the function NUMBERS returns."
  (loop with over = (make-patience seconds numbers pace)
        thereis (funcall done)
        until (funcall over)
        do (sleep pace)))

(defun await-thread (thread limit arrivedp)
  "Wait until ARRIVEDP, a function that waits for as many seconds as its argument says, returns true;
return that.  NIL if THREAD has ended before, or could have acted for LIMIT microseconds."
  (let ((over (make-patience (/ limit 1000000) (lambda () (list (thread-system-number thread)))
                             1/100)))
    (funcall over)
    (loop for looks from 0
          for arrived = (funcall arrivedp (if (< looks 20) 1/1000 1/100))
          when arrived return arrived
          unless (swank/backend:thread-alive-p thread) return (funcall arrivedp 1/1000)
          until (funcall over))))

#+sbcl
(defun await-signal (semaphore thread limit)
  "AWAIT-THREAD until SEMAPHORE is signalled, which THREAD is to do."
  (await-thread thread limit (lambda (seconds)
                               (sb-thread:wait-on-semaphore semaphore :timeout seconds))))

(defun await-state (predicate thread limit)
  "AWAIT-THREAD until PREDICATE is true."
  (await-thread thread limit (lambda (seconds)
                               (or (funcall predicate)
                                   (progn (sleep seconds) (funcall predicate))))))
