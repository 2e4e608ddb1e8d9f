;;;; restore-watch.lisp -- how long the restore of an entry may take

(cl:in-package #:swank-mcp)

;;; Code that was harmless when it was first evaluated may loop or end the image now: a variable
;;; on which it waits may have no value yet.  So each entry of a journal has a time limit, kept by
;;; a watching thread.  A caller waits for all entries, and many may not end.  So the first few of
;;; these may take long; when they have used up the patience, the limit is short.

(defparameter *entry-limit* 200000
  "How many microseconds an entry may take while there is patience.")

(defparameter *least-entry-limit* 4000
  "How many microseconds an entry may take when no patience is left.")

(defparameter *times-as-long* 3
  "How many times as long as at first an entry may take.")

(defparameter *compiler-time* 4000
  "More microseconds than the compiler needs of a usual processor for its first small function.")

(defparameter *most-slowness* 8
  "How many times as long as usual an entry may take at most, because those before it have.")

(defparameter *collecting-limit* 50000
  "How many microseconds of garbage collection do not count for an entry.")

(defparameter *bytes-a-microsecond* 2000
  "How many bytes may be allocated for each microsecond of the limit.")

(defstruct (restoring (:copier nil))
  "A restore.  ENTRIES are ((TEXT PACKAGE-NAME MILLISECONDS LEAST) ...).  The entry may take some times
MILLISECONDS in any case, and LEAST milliseconds."
  entries evaluation
  (patience 0)    ; microseconds that are left for entries that do not end
  (allowance 0)   ; the same for those that may take long
  (used 0) (expected 0) ; what the entries that ended took of the processor, and were to take
  thread tid
  (number 0)           ; of the entry that is evaluated, from 1; and
  limit wall cpu collecting consed      ; its limit, and the clocks when it began
  leave                ; a function of a kind: ends it
  (forced 0)           ; the number of one that was broken off with interrupts off
  (overp nil)
  (board nil))         ; address of the board; see WRITE-BOARD

;;; The board is a page of a file that the bridge reads, also when the image has died.  It says
;;; which entry was being evaluated.

(defconstant +entry-word+ 0 "Index of the number of the entry that is being evaluated.")
(defconstant +beat-word+ 1 "Index of a counter by which the watcher shows that it is alive.")
(defconstant +stuck-word+ 2 "Index of the number of an entry that cannot be stopped.")
(defconstant +patience-word+ 3 "Index of the milliseconds of patience that are left.")
(defconstant +allowance-word+ 4 "Index of the milliseconds of allowance that are left.")
(defconstant +ends-word+ 15 "Index before the first of the words that say how entries ended.")
(defconstant +board-size+ 4096)

(defun write-board (restoring word value)
  "Write VALUE, of 32 bits, to the board, at the index WORD."
  #+sbcl (let ((board (restoring-board restoring)))
           (when board (setf (sb-sys:sap-ref-32 board (* 4 word)) value)))
  #-sbcl (progn restoring word value))

#+sbcl
(defun open-board (file)
  "The address of FILE's first page in memory, or NIL."
  (let ((fd (sbcl:unix-open file sbcl:o_rdwr 0)))
    (when fd
      (let ((board (sb-alien:alien-funcall
                    (sb-alien:extern-alien
                     "mmap" (function sb-sys:system-area-pointer sb-sys:system-area-pointer
                                      sb-alien:unsigned-long sb-alien:int sb-alien:int sb-alien:int
                                      sb-alien:long))
                    (sb-sys:int-sap 0) +board-size+ 3 1 fd 0))) ; read and write, shared
        (sbcl:unix-close fd)
        (and (zerop (logand 4095 (sb-sys:sap-int board))) board)))))

(defun close-board (board)
  #+sbcl
  (when board
    (sb-alien:alien-funcall
     (sb-alien:extern-alien "munmap" (function sb-alien:int sb-sys:system-area-pointer
                                               sb-alien:unsigned-long))
     board +board-size+))
  #-sbcl board)

;;; Clocks

(defun real-microseconds ()
  "A monotonic clock."
  (floor (* 1000000 (get-internal-real-time)) internal-time-units-per-second))

(defun collecting-microseconds ()
  #+sbcl (floor (* 1000000 sb-ext:*gc-run-time*) internal-time-units-per-second)
  #-sbcl 0)

(defun thread-asleep-p (number)
  "True if the thread of the system's NUMBER waits, not for a processor; or if that is unknown."
  (or (null number)
      (let ((line (ignore-errors
                   (with-open-file (in (format nil "/proc/self/task/~D/stat" number))
                     (read-line in)))))
        (or (null line)
            (eql #\S (char line (+ 2 (position #\) line :from-end t))))))))

;;; Watching

(defun restored-cpu (restoring)
  (or (processor-microseconds (restoring-tid restoring)) 0))

(defun slowness (restoring)
  "How many times as long as usual an entry may take here and now, an integer: some take much longer
than those before them on average, so twice that."
  (max 1 (min *most-slowness*
              (round (* 2 (restoring-used restoring)) (max 1 (restoring-expected restoring))))))

(defun base-limit (restoring)
  (max (* (slowness restoring) *least-entry-limit*)
       (min *entry-limit* (floor (restoring-patience restoring) 2))))

(defun begin-entry (restoring number milliseconds least)
  (setf (restoring-limit restoring) (max (base-limit restoring)
                                         (min (* 1000 (slowness restoring)
                                                 (max least (* *times-as-long* (1+ milliseconds))))
                                              (restoring-allowance restoring)))
        (restoring-collecting restoring) (collecting-microseconds)
        (restoring-consed restoring) (bytes-consed)
        (restoring-cpu restoring) (processor-microseconds (restoring-tid restoring))
        (restoring-wall restoring) (real-microseconds)
        (restoring-number restoring) number)
  (write-board restoring +entry-word+ number))

(defun measure-compiler (restoring)
  "Compile something small, and take in how long that took: the first entry pays less for what all of
them need, and has its limit from how fast the machine is."
  (let ((before (restored-cpu restoring)) (*gensym-counter* 0))
    (compile nil '(lambda (x) (list x 1)))
    (incf (restoring-used restoring) (max 0 (- (restored-cpu restoring) before)))
    (incf (restoring-expected restoring) *compiler-time*)))

(defun note-speed (restoring milliseconds)
  "Take in what the current entry, which may take so many MILLISECONDS and has ended, took."
  (when (restoring-cpu restoring)
    (incf (restoring-used restoring)
          (max 0 (- (restored-cpu restoring) (restoring-cpu restoring))))
    (incf (restoring-expected restoring) (* 1000 (1+ milliseconds)))))

(defun end-entry (restoring)
  (setf (restoring-number restoring) 0)
  (write-board restoring +entry-word+ 0))

(defun charge-entry (restoring)
  "Subtract the time of the current entry, which did not end, from what is left."
  (let ((cost (- (real-microseconds) (restoring-wall restoring))))
    (if (> (restoring-limit restoring) (base-limit restoring))
        (setf (restoring-allowance restoring) (max 0 (- (restoring-allowance restoring) cost)))
        (setf (restoring-patience restoring) (max 0 (- (restoring-patience restoring) cost)))))
  (write-board restoring +patience-word+ (floor (restoring-patience restoring) 1000))
  (write-board restoring +allowance-word+ (floor (restoring-allowance restoring) 1000)))

(defun overduep (restoring asleep)
  "True if the entry has used up its limit.  Collections do not count, nor most of the time that
other processes took: on a busy machine entries only take longer.  Allocation counts as the time
that the collector will need for it."
  (let* ((wall (- (real-microseconds) (restoring-wall restoring)))
         (cpu (if (restoring-cpu restoring)
                  (- (restored-cpu restoring) (restoring-cpu restoring))
                  wall))
         (collecting (min *collecting-limit*
                          (- (collecting-microseconds) (restoring-collecting restoring))))
         (filled (floor (- (bytes-consed) (restoring-consed restoring)) *bytes-a-microsecond*))
         (limit (restoring-limit restoring)))
    (or (> (max (- (max cpu (if asleep wall (floor wall 8))) collecting) filled) limit)
        (> wall (+ 1000000 (* 8 limit))))))

(defun watch-entries (restoring)
  "The function of the watching thread, until the restore is over."
  (let ((beats 0) (asleep 0) (last 0))
    (loop until (restoring-overp restoring)
          do (sleep 0.001)
             (write-board restoring +beat-word+ (incf beats))
             (let ((number (restoring-number restoring)))
               (unless (= number last) (setf asleep 0 last number))
               (when (plusp number)
                 (if (and (> (- (real-microseconds) (restoring-wall restoring))
                             (restoring-limit restoring))
                          (thread-asleep-p (restoring-tid restoring)))
                     (incf asleep)
                     (setf asleep 0))
                 (let ((kind (cond ((overduep restoring (> asleep 1)) :hung)
                                   ((heap-full-p) :storage))))
                   (when (and kind (= number (restoring-number restoring)))
                     (stop-entry restoring number kind))))))))

(defun call-watched (restoring function)
  (setf (restoring-thread restoring) (swank/backend:current-thread)
        (restoring-tid restoring) (system-thread-number))
  #+(and sbcl sb-thread)
  (let ((watcher (sb-thread:make-thread (lambda () (watch-entries restoring))
                                          :name "swank-mcp restoring")))
    (unwind-protect (funcall function)
      (setf (restoring-overp restoring) t)
      (sb-thread:join-thread watcher :default nil :timeout 1)))
  #-(and sbcl sb-thread) (funcall function))

;;; Stopping.  Code that runs with interrupts off can be interrupted as well, if they are switched
;;; on before the interrupt is sent.  Nobody knows in which state that leaves the image.  So the
;;; bridge replaces it when all entries are through.

#+sbcl
(defun interrupts-off-p (restoring)
  "True if the entry runs with interrupts off for longer than SBCL's own code does, which may wait
for a processor or for the collector there."
  (let ((cpu (restored-cpu restoring)) (collecting (collecting-microseconds)))
    (loop for samples from 0
          always (and (null (sb-thread:symbol-value-in-thread
                             'sb-sys:*interrupts-enabled* (restoring-thread restoring) nil))
                      (= collecting (collecting-microseconds)))
          until (or (> samples 30) (> (restored-cpu restoring) (+ cpu 2500)))
          do (sleep 0.001))))

(defun stop-entry (restoring number kind)
  "End the entry of that NUMBER.  Each attempt interrupts the cleanup forms that the one before
has begun."
  #+sbcl
  (let ((thread (restoring-thread restoring)) (address nil) (began (real-microseconds)))
    (flet ((overp () (/= number (restoring-number restoring)))
           (stop () (when (= number (restoring-number restoring))
                      (funcall (restoring-leave restoring)
                               (if (= number (restoring-forced restoring)) :forced kind)))))
      (loop for late = (- (real-microseconds) began)
            until (or (overp) (> late 400000))
            do (when (interrupts-off-p restoring)
                 (unless (overp)
                   (setf (restoring-forced restoring) number
                         (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread) t)))
               (let ((interrupt (make-interrupt)))
                 (send-interrupt interrupt thread #'stop (or (> late 200000) address))
                 (loop repeat 6
                       until (or (overp) (integerp (interrupt-state interrupt)))
                       do (sleep 0.001))
                 (setf address (sb-ext:compare-and-swap (interrupt-state interrupt) :sent :left-alone))
                 (unless (integerp address) (setf address nil))))
      (unless (overp)
        (write-board restoring +stuck-word+ number)
        (loop until (or (overp) (restoring-overp restoring)) do (sleep 0.01)))))
  #-sbcl (progn restoring number kind))
