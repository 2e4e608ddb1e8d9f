;;;; guest-heap-watch.lisp -- a limit on the heap while a session's code runs in a person's image

(cl:in-package #:swank-mcp)

;;; A heap that fills up during a collection ends SBCL, and the person loses everything.  Their
;;; hooks are not ours to set, so a thread polls while an evaluation runs, or a thread that one
;;; has started, and a little longer.  It compares the heap that a collection has left with the
;;; heap before the code began: what was there before is the person's.

(defparameter *watch-interval* 1/200 "Seconds between two looks at the heap.")
(defparameter *idle-watch-seconds* 1 "For how many seconds the polling goes on when no code runs.")

(defvar *guest-watch* nil
  "The thread that watches, or NIL.")

(defun ensure-guest-watch ()
  "Start the watching thread unless it runs.  An evaluation has just been registered."
  (when (and *attached* (not *guest-watch*)) ; an image that is to be saved must have one thread
    (with-lock ()
      (unless *guest-watch*
        (watch-threads)
        (setf *guest-watch* (in-own-thread "swank-mcp heap watch" #'watch-as-guest))))))

(defun end-guest-watch ()
  "True if nothing is left to watch: then this thread is no longer the watching one."
  (with-lock ()
    (unless (or *evaluations* *session-threads*)
      (leave-threads-alone)
      (setf *guest-watch* nil)
      t)))

(defun watch-as-guest ()
  (let ((left (heap-used)) (last (heap-used)) (collecting sb-ext:*gc-run-time*)
        (busy (microseconds)) (base nil))
    (flet ((look ()
             (let ((used (heap-used)) (now sb-ext:*gc-run-time*))
               (when (or (< used last) (/= now collecting))
                 (setf left used))      ; left by the collection, plus what is new since
               (setf last used collecting now))
             (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
               (cond ((or evaluations threads)
                      (setf busy (microseconds)
                            base (min (or base (heap-size)) (least-base evaluations threads))))
                     (base
                      (let ((before (shiftf base nil)))
                        (when (> last (heap-allowed before)) (collect-all before))))
                     ((and (> (- (microseconds) busy) (* 1000000 *idle-watch-seconds*)) (end-guest-watch))
                      (return-from watch-as-guest)))
               (when (and base (> left (heap-allowed (least-base evaluations threads))))
                 (relieve-heap left)
                 (setf left (heap-used) last left collecting sb-ext:*gc-run-time*)))))
      (loop
        (sleep *watch-interval*)
        ;; a full heap has no room even for looking
        (handler-case (look) (storage-condition () nil))))))

(defun least-base (evaluations threads)
  (reduce #'min (append (mapcar #'evaluation-heap-base evaluations)
                        (mapcar #'session-thread-base threads))
          :initial-value (heap-size)))

(defun collect-all (live)
  "Collect all garbage and return T if there is room to copy LIVE bytes; else NIL."
  (when (< live (* 9/20 (heap-size)))
    (sb-ext:gc :full t)
    t))

(defvar *proven-full* 0
  "The time, see MICROSECONDS, when the heap was last found to be full of live objects.")

(defun relieve-heap (left)
  "A collection has LEFT too many bytes.  If a full one does, too, end the code that may hold
them, which makes them garbage."
  (when (and (> (- (microseconds) *proven-full*) 1000000)
             (collect-all left))
    (setf left (heap-used)))
  (let ((evaluations (remove-if-not (lambda (evaluation)
                                      (> left (heap-allowed (evaluation-heap-base evaluation))))
                                    (busy-evaluations)))
        (threads (filling-threads (live-session-threads) left)))
    (when (or evaluations threads)
      (setf *proven-full* (microseconds))
      (mapc #'end-filling-thread threads)
      (mapc #'end-filling-evaluation evaluations)
      (when (and (every (lambda (evaluation)
                          (await-state (lambda () (not (registeredp evaluation)))
                                       (evaluation-thread evaluation) 100000))
                        evaluations)
                 (every (lambda (known) (await-end-of-thread (session-thread-thread known) 100000)) threads))
        (collect-all (least-base evaluations threads))))))
