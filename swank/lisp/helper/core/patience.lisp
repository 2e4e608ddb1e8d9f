;;;; patience.lisp -- measuring how long threads could act, for limits that no slow machine reaches

(cl:in-package #:swank-mcp)

;;; A clock goes on while a thread wants a processor and has none, or while the whole process is
;;; stopped.  So a limit on what other threads do counts their time: what they had of a processor,
;;; and how long they waited of their own accord.  Then a reason such as "it did not end" was seen.

(defun thread-number (thread)
  "The system's number of THREAD, or NIL if it is not known."
  (let ((number (ignore-errors (sb-thread:thread-os-tid thread))))
    (and (integerp number) (plusp number) number)))

(defun thread-state (number)
  "The state in proc(5) of this process's thread of that NUMBER, a character, or NIL if there is none.
It makes no stream: those have finalizers, and a copy of the image is made without any."
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
        (sb-posix:close fd)))))

(defun able-microseconds (passed number used)
  "Of the microseconds that have PASSED, those in which the thread of that NUMBER could act; it had had
USED microseconds of a processor before."
  (let ((state (thread-state number)))
    (if (or (null state) (find state "SIZX"))
        passed
        (max 0 (min passed (- (or (processor-microseconds number) used) used))))))

(defun make-patience (seconds numbers pace)
  "A function that is to be called every PACE seconds and returns true when all threads could act for
SECONDS since its first call, whose system's numbers the function NUMBERS returns.  Each call counts
for PACE at most, because this process may have been stopped meanwhile."
  (let ((left (* 1000000 seconds)) (seen nil) (used '()))
    (lambda ()
      (let* ((now (microseconds))
             (passed (if seen           ; the time of day may be set
                         (max 0 (min (- now seen) (* 1000000 pace)))
                         0))
             (threads (remove nil (funcall numbers))))
        (decf left (reduce #'min threads
                           :key (lambda (number)
                                  (able-microseconds passed number
                                                     (or (cdr (assoc number used)) 0)))
                           :initial-value passed))
        (setf seen now
              used (loop for number in threads
                         collect (cons number (or (processor-microseconds number) 0))))
        (<= left 0)))))

(defun await-able (done seconds numbers &optional (pace 1/500))
  "Return what DONE returns when that is true, which is asked every PACE seconds, or NIL when all
threads could act for SECONDS whose system's numbers the function NUMBERS returns."
  (loop with over = (make-patience seconds numbers pace)
        thereis (funcall done)
        until (funcall over)
        do (sleep pace)))
