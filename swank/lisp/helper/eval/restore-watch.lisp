;;;; restore-watch.lisp -- how long the restore of an entry may take

(cl:in-package #:swank-mcp)

;;; Code that was harmless when it was first evaluated may loop or end the image now: a variable
;;; on which it waits may have no value yet.  So each entry of a journal has a limit, kept by a
;;; watching thread.  It limits the entry's AGE, which grows only while the image has the
;;; processor: an image that is stopped, or starved by others, breaks nothing off.

(defparameter *tick* 1000
  "How many microseconds pass, at least, between two looks of the watching thread.")

(defparameter *least-limit* 5000
  "The microseconds that each entry may take.")

(defparameter *least-long-limit* 1000000
  "The microseconds that an entry may take that has a longer limit of its own.")

(defstruct (restoring (:copier nil))
  "A restore.  ENTRIES are ((TEXT PACKAGE-NAME MILLISECONDS) ...), with the limit of each."
  entries evaluation
  (patience 0)    ; microseconds that all entries may use that do not end; and, apart from that,
  (allowance 0)   ; those whose own limit is longer than half of that
  thread tid
  (number 0)           ; of the entry that is evaluated, from 1; and
  limit cpu            ; its limit, and the thread's processor time when it began
  (asleep 0)           ; microseconds that the watcher has seen it asleep
  leave                ; a function of a kind: ends it
  (forced 0)           ; the number of one that was broken off with interrupts off
  (overp nil)
  (beats 0)            ; looks of the watching thread
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

;;; The age of an entry: the processor time of its thread, and how often that was asleep when the
;;; watcher looked.

(defun collecting-microseconds ()
  #+sbcl (floor (* 1000000 sb-ext:*gc-run-time*) internal-time-units-per-second)
  #-sbcl 0)

(defun restored-cpu (restoring)
  (or (processor-microseconds (restoring-tid restoring)) 0))

(defun age (restoring)
  "For how many microseconds the current entry has run or slept, as far as the image saw it."
  (+ (- (restored-cpu restoring) (restoring-cpu restoring))
     (restoring-asleep restoring)))

(defun tick (restoring)
  "Wait for the next look at the restoring thread.  One that has not run since the last and is
asleep is older by a tick, however long the look took to come."
  (let ((number (restoring-number restoring)) (cpu (restored-cpu restoring)))
    (sleep (/ *tick* 1000000))
    (write-board restoring +beat-word+ (incf (restoring-beats restoring)))
    (when (and (plusp number)
               (= cpu (restored-cpu restoring))
               (eql #\S (thread-state (restoring-tid restoring)))
               (= number (restoring-number restoring)))
      (incf (restoring-asleep restoring) *tick*))))

;;; The limits

(defun base-limit (restoring)
  "The limit of an entry without a longer one of its own: the first that do not end have much, and
leave little."
  (max *least-limit* (floor (restoring-patience restoring) 2)))

(defun begin-entry (restoring number milliseconds)
  (setf (restoring-limit restoring) (max (base-limit restoring)
                                         (min (* 1000 milliseconds)
                                              (max *least-long-limit*
                                                   (floor (restoring-allowance restoring) 2))))
        (restoring-asleep restoring) 0
        (restoring-cpu restoring) (restored-cpu restoring)
        (restoring-number restoring) number)
  (write-board restoring +entry-word+ number))

(defun end-entry (restoring)
  (setf (restoring-number restoring) 0)
  (write-board restoring +entry-word+ 0))

(defun charge-entry (restoring)
  "Subtract the age of the current entry, which did not end, from what is left."
  (let ((age (age restoring)))
    (if (> (restoring-limit restoring) (base-limit restoring))
        (setf (restoring-allowance restoring) (max 0 (- (restoring-allowance restoring) age)))
        (setf (restoring-patience restoring) (max 0 (- (restoring-patience restoring) age)))))
  (write-board restoring +patience-word+ (floor (restoring-patience restoring) 1000))
  (write-board restoring +allowance-word+ (floor (restoring-allowance restoring) 1000)))

;;; Watching

(defun watch-entries (restoring)
  "The function of the watching thread, until the restore is over."
  (loop until (restoring-overp restoring)
        do (tick restoring)
           (let ((number (restoring-number restoring)))
             (when (plusp number)
               (let ((kind (cond ((> (age restoring) (restoring-limit restoring)) :hung)
                                 ((heap-full-p) :storage))))
                 (when (and kind (= number (restoring-number restoring)))
                   (stop-entry restoring number kind)))))))

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

(defparameter *telling-looks* 10
  "How many looks tell code that runs with interrupts off from SBCL's own, which is seldom so.")

(defparameter *stopping-limit* 400000
  "How many microseconds older an entry may become while it is stopped.")

#+sbcl
(defun interrupts-off-p (restoring)
  "True if the entry runs, or sleeps, with interrupts off for longer than SBCL's own code does,
which may wait for a processor or for the collector there."
  (let ((end (+ (age restoring) (* *telling-looks* *tick*)))
        (collecting (collecting-microseconds)))
    (loop for looks from 1
          always (and (null (sb-thread:symbol-value-in-thread
                             'sb-sys:*interrupts-enabled* (restoring-thread restoring) nil))
                      (= collecting (collecting-microseconds)))
          until (and (>= looks *telling-looks*) (>= (age restoring) end))
          do (tick restoring))))

#+sbcl
(defun stop-entry (restoring number kind)
  "End the entry of that NUMBER.  Each attempt interrupts the cleanup forms that the one before
has begun.  An attempt waits for the next one until the entry is older, so that one that does not
run is not sent many interrupts."
  (let ((thread (restoring-thread restoring)) (address nil) (began (age restoring)))
    (flet ((overp () (or (restoring-overp restoring) (/= number (restoring-number restoring))))
           (stop () (when (= number (restoring-number restoring))
                      (funcall (restoring-leave restoring)
                               (if (= number (restoring-forced restoring)) :forced kind)))))
      (loop for late = (- (age restoring) began)
            until (or (overp) (> late *stopping-limit*))
            do (when (and (interrupts-off-p restoring) (not (overp)))
                 (setf (restoring-forced restoring) number
                       (sb-thread:symbol-value-in-thread 'sb-sys:*interrupts-enabled* thread) t))
               (let ((interrupt (make-interrupt)) (end (+ (age restoring) (* 6 *tick*))))
                 (send-interrupt interrupt thread #'stop
                                 (or (> late (floor *stopping-limit* 2)) address))
                 (loop until (or (overp)
                                 (integerp (interrupt-state interrupt))
                                 (> (age restoring) end))
                       do (tick restoring))
                 (setf address (sb-ext:compare-and-swap (interrupt-state interrupt) :sent :left-alone))
                 (unless (integerp address) (setf address nil))))
      (unless (overp)
        (write-board restoring +stuck-word+ number)
        (loop until (overp) do (tick restoring))))))
#-sbcl
(defun stop-entry (restoring number kind)
  (declare (ignore restoring number kind)))
