;;;; guest-heap-watch.lisp -- a limit on the heap while a session's code runs in a person's image

(cl:in-package #:swank-mcp)

;;; A heap that fills up during a collection ends SBCL, and the person loses everything.  What a
;;; collection has left is compared with the heap before the code began: what was there before is
;;; the person's.  The thread that has collected compares (see heap-filled.lisp) while an evaluation
;;; runs, or a thread that one has started, and a little longer.  Another thread may have collected,
;;; so a thread of ours polls, too.

(defparameter *watch-interval* 1/200 "Seconds between two looks at the heap.")
(defparameter *idle-watch-seconds* 1 "For how many seconds the polling goes on when no code runs.")

(defvar *guest-watch* nil
  "The thread that watches, or NIL.")

(defun end-if-filling ()
  "Called in a thread of a session's code, which has collected: end that if it has filled the heap."
  (let* ((known (find sb-thread:*current-thread* *session-threads* :key #'session-thread-thread))
         (evaluation (and (null known) *evaluation*))
         (base (cond (known (session-thread-base known))
                     (evaluation (evaluation-heap-base evaluation)))))
    (flet ((fullp () (heap-over-p (heap-used) base)))
      (when (and base (fullp)
                 (not (and (collect-all (heap-used)) (not (fullp)))))
        (cond (known
               (tell-of-filling-thread known)
               (sb-thread:abort-thread))
              (t (stop-here evaluation :heap)))))))

(defun ensure-guest-watch ()
  "Start the watching thread unless it runs.  An evaluation has just been registered."
  (when (and *attached* (not *guest-watch*)) ; an image that is to be saved must have one thread
    (with-lock ()
      (unless *guest-watch*
        (setf *busy-base* (heap-used))
        (watch-threads)
        (watch-list-makers)
        (look-after-collections #'end-if-filling)
        (setf *guest-watch* (in-own-thread "swank-mcp heap watch" #'watch-as-guest))))))

(defun end-guest-watch ()
  "True if nothing is left to watch: then this thread is no longer the watching one."
  (with-lock ()
    (unless (or *evaluations* *session-threads*)
      (leave-collections-alone)
      (leave-threads-alone)
      (leave-list-makers-alone)
      (setf *guest-watch* nil
            *busy-base* nil)
      t)))

(defun watch-as-guest ()
  (let ((left (heap-used)) (last (heap-used)) (collecting sb-ext:*gc-run-time*) (busy (microseconds)))
    (flet ((look ()
             (let ((used (heap-used)) (now sb-ext:*gc-run-time*))
               (when (or (< used last) (/= now collecting))
                 (setf left used))      ; left by the collection, plus what is new since
               (setf last used collecting now))
             (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
               (cond ((or evaluations threads)
                      (setf busy (microseconds))
                      (unless *busy-base*
                        (setf *busy-base* (least-base evaluations threads))))
                     (t
                      (when (and *busy-base*
                                 (or (not (heap-over-p last *busy-base*)) (collect-all *busy-base*)))
                        (setf *busy-base* nil))
                      (when (and (> (- (microseconds) busy) (* 1000000 *idle-watch-seconds*))
                                 (end-guest-watch))
                        (return-from watch-as-guest))))
               (when (and *busy-base* (heap-over-p left (least-base evaluations threads)))
                 (relieve-heap left)
                 (setf left (heap-used) last left collecting sb-ext:*gc-run-time*)))))
      (loop
        (sleep *watch-interval*)
        ;; a full heap has no room even for looking
        (handler-case (look) (storage-condition () nil))))))

(defvar *proven-full* 0
  "The time, see MICROSECONDS, when the heap was last found to be full of live objects.")

(defun relieve-heap (left)
  "A collection has LEFT too many bytes.  If a full one does, too, end the code that may hold
them, which makes them garbage."
  (when (and (> (- (microseconds) *proven-full*) 1000000)
             (collect-all left))
    (setf left (heap-used)))
  (let ((evaluations (remove-if-not (lambda (evaluation)
                                      (heap-over-p left (evaluation-heap-base evaluation)))
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
