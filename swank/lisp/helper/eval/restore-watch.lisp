;;;; restore-watch.lisp -- how long bringing back an entry may take

(cl:in-package #:swank-mcp)

;;; What was harmless where it was evaluated first may loop or end the image where
;;; it is evaluated again: a variable on which it waits has no value yet.  So each
;;; entry of a journal has a limit, which a thread of its own watches.  The first
;;; few that do not end may take their time.  A journal may have many of them, and
;;; a caller waits for all: from what they have used up the limit is short.

(defparameter *entry-limit* 200000
  "Microseconds that an entry may take, while there is patience.")

(defparameter *least-entry-limit* 4000
  "And when there is none left.")

(defparameter *times-as-long* 3
  "How many times as long an entry may take as it took at first.")

(defparameter *collecting-limit* 50000
  "Microseconds for which the collector may run on account of others.")

(defparameter *bytes-a-microsecond* 2000
  "What may be allocated for each microsecond of the limit.")

(defstruct (restoring (:copier nil))
  "What is brought back: ENTRIES are ((TEXT PACKAGE-NAME MILLISECONDS) ...), of which
the last says what the entry may take in any case."
  entries evaluation
  (patience 0)    ; microseconds that are left for entries that do not end
  (allowance 0)  ; the same for those that may take long
  thread tid
  (number 0)           ; of the entry that is evaluated, from 1; and
  limit wall cpu collecting consed      ; its limit, and the clocks when it began
  leave                ; a function of a kind: ends it
  (forced 0)           ; the number of one that was broken off with interrupts off
  (overp nil)
  (board nil))         ; address of what the bridge can read; see MARK

;;; The board is a page of a file that the bridge reads, also when the image has
;;; died.  It says which entry that was.

(defconstant +entry-word+ 0 "Where the number of the entry is that is evaluated.")
(defconstant +beat-word+ 1 "Where the watcher counts, so that one knows it is alive.")
(defconstant +stuck-word+ 2 "Where the number of an entry is that cannot be stopped.")
(defconstant +patience-word+ 3 "Where it is how many milliseconds of patience are left.")
(defconstant +allowance-word+ 4 "The same of the allowance.")
(defconstant +ends-word+ 15 "Before the first of the words that say how entries ended.")
(defconstant +board-size+ 4096)

(defun mark (restoring word value)
  "Show the bridge VALUE, of 32 bits."
  #+sbcl (let ((board (restoring-board restoring)))
           (when board (setf (sb-sys:sap-ref-32 board (* 4 word)) value)))
  #-sbcl (progn restoring word value))

(defun open-board (file)
  "The address of FILE's first page in memory, or NIL."
  #+sbcl
  (let ((fd (sbcl:unix-open file sbcl:o_rdwr 0)))
    (when fd
      (let ((board (sb-alien:alien-funcall
                    (sb-alien:extern-alien
                     "mmap" (function sb-sys:system-area-pointer sb-sys:system-area-pointer
                                      sb-alien:unsigned-long sb-alien:int sb-alien:int sb-alien:int
                                      sb-alien:long))
                    (sb-sys:int-sap 0) +board-size+ 3 1 fd 0))) ; read and write, shared
        (sbcl:unix-close fd)
        (and (zerop (logand 4095 (sb-sys:sap-int board))) board))))
  #-sbcl (progn file nil))

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
  "A clock that nobody sets back."
  (floor (* 1000000 (get-internal-real-time)) internal-time-units-per-second))

(defun collecting-microseconds ()
  #+sbcl (floor (* 1000000 sb-ext:*gc-run-time*) internal-time-units-per-second)
  #-sbcl 0)

(defun thread-asleep-p (number)
  "True if the thread waits, and not for a processor; or if that cannot be known."
  (or (null number)
      (let ((line (ignore-errors
                   (with-open-file (in (format nil "/proc/self/task/~D/stat" number))
                     (read-line in)))))
        (or (null line)
            (eql #\S (char line (+ 2 (position #\) line :from-end t))))))))

;;; Watching

(defun restored-cpu (restoring)
  (or (processor-microseconds (restoring-tid restoring)) 0))

(defun base-limit (restoring)
  (max *least-entry-limit* (min *entry-limit* (floor (restoring-patience restoring) 2))))

(defun begin-entry (restoring number milliseconds)
  (setf (restoring-limit restoring) (max (base-limit restoring)
                                         (min (* 1000 *times-as-long* (1+ milliseconds))
                                              (restoring-allowance restoring)))
        (restoring-collecting restoring) (collecting-microseconds)
        (restoring-consed restoring) (bytes-consed)
        (restoring-cpu restoring) (processor-microseconds (restoring-tid restoring))
        (restoring-wall restoring) (real-microseconds)
        (restoring-number restoring) number)
  (mark restoring +entry-word+ number))

(defun end-entry (restoring)
  (setf (restoring-number restoring) 0)
  (mark restoring +entry-word+ 0))

(defun charge-entry (restoring)
  "The current entry did not end: take what it has cost from what is left."
  (let ((cost (- (real-microseconds) (restoring-wall restoring))))
    (if (> (restoring-limit restoring) (base-limit restoring))
        (setf (restoring-allowance restoring) (max 0 (- (restoring-allowance restoring) cost)))
        (setf (restoring-patience restoring) (max 0 (- (restoring-patience restoring) cost)))))
  (mark restoring +patience-word+ (floor (restoring-patience restoring) 1000))
  (mark restoring +allowance-word+ (floor (restoring-allowance restoring) 1000)))

(defun overduep (restoring asleep)
  "True if the entry has had its time.  What the collector took does not count, nor
does most of what others had the processors for: on a busy machine nothing else is
lost than time.  To fill the heap counts as much as the collector will have to do."
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
  "Runs in a thread of its own until all is brought back."
  (let ((beats 0) (asleep 0) (last 0))
    (loop until (restoring-overp restoring)
          do (sleep 0.001)
             (mark restoring +beat-word+ (incf beats))
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

;;; Stopping.  Code that runs with interrupts off can be interrupted all the same,
;;; if it is told that they are on before anything is sent to it.  What it leaves
;;; behind nobody knows, so the bridge replaces the image afterwards; but not for
;;; each entry of this kind.

#+sbcl
(defun interrupts-off-p (restoring)
  "True if the entry runs with interrupts off for some time: not while it waits for
a processor in the few lines of SBCL's own where they are, nor for the collector."
  (let ((cpu (restored-cpu restoring)) (collecting (collecting-microseconds)))
    (loop for samples from 0
          always (and (null (sb-thread:symbol-value-in-thread
                             'sb-sys:*interrupts-enabled* (restoring-thread restoring) nil))
                      (= collecting (collecting-microseconds)))
          until (or (> samples 30) (> (restored-cpu restoring) (+ cpu 2500)))
          do (sleep 0.001))))

(defun stop-entry (restoring number kind)
  "End the entry of that NUMBER.  Each attempt breaks off the cleanup forms that the
one before has begun."
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
        (mark restoring +stuck-word+ number)
        (loop until (or (overp) (restoring-overp restoring)) do (sleep 0.01)))))
  #-sbcl (progn restoring number kind))
