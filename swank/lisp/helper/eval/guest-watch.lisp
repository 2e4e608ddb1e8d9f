;;;; guest-watch.lisp -- while a session's code runs in an image that is somebody's

(cl:in-package #:swank-mcp)

;;; A heap that fills up during a collection ends SBCL, and with it what the person
;;; has there.  No hook of theirs is ours to set, so a thread polls: while an
;;; evaluation runs, or a thread that one has started, and a little longer.  What
;;; counts is the heap as a collection has left it, and how much that has grown since
;;; the code began: what was there before is the person's.

(defparameter *watch-interval* 1/200 "Seconds between two looks at the heap.")
(defparameter *watch-idly* 1 "For how many seconds it goes on when no code runs.")

#+sbcl
(defvar *guest-watch* nil
  "The thread that watches, or NIL.")

(defun ensure-guest-watch ()
  "Called when an evaluation has been registered."
  #+(and sbcl sb-thread)
  (when (and *attached* (not *guest-watch*)) ; an image that is about to be saved has one thread
    (with-lock ()
      (unless *guest-watch*
        (watch-threads)
        (setf *guest-watch* (in-own-thread "swank-mcp heap watch" #'watch-as-guest))))))

#+sbcl
(defun end-guest-watch ()
  "True if nothing is left to watch: another thread will begin anew."
  (with-lock ()
    (unless (or *evaluations* *session-threads*)
      (leave-threads-alone)
      (setf *guest-watch* nil)
      t)))

#+sbcl
(defun watch-as-guest ()
  (let ((left (heap-used)) (last (heap-used)) (collecting sb-ext:*gc-run-time*)
        (busy (microseconds)) (base nil))
    (flet ((look ()
             (let ((used (heap-used)) (now sb-ext:*gc-run-time*))
               (when (or (< used last) (/= now collecting))
                 (setf left used))      ; by the collection, but for what is new since
               (setf last used collecting now))
             (let ((evaluations (busy-evaluations)) (threads (live-session-threads)))
               (cond ((or evaluations threads)
                      (setf busy (microseconds)
                            base (min (or base (heap-size)) (least-base evaluations threads))))
                     (base
                      (let ((before (shiftf base nil)))
                        (when (> last (heap-allowed before)) (collect-all before))))
                     ((and (> (- (microseconds) busy) (* 1000000 *watch-idly*)) (end-guest-watch))
                      (return-from watch-as-guest)))
               (when (and base (> left (heap-allowed (least-base evaluations threads))))
                 (relieve-heap left)
                 (setf left (heap-used) last left collecting sb-ext:*gc-run-time*)))))
      (loop
        (sleep *watch-interval*)
        ;; in a heap that is full there is not even room to look
        (handler-case (look) (storage-condition () nil))))))

#+sbcl
(defun least-base (evaluations threads)
  (reduce #'min (append (mapcar #'evaluation-heap-base evaluations)
                        (mapcar #'session-thread-base threads))
          :initial-value (heap-size)))

#+sbcl
(defun collect-all (live)
  "Collect all garbage, if there is room to copy what is LIVE, in bytes.  True if there is."
  (when (< live (* 9/20 (heap-size)))
    (sb-ext:gc :full t)
    t))

#+sbcl
(defvar *proven-full* 0
  "When it was last seen that what fills the heap is no garbage, see MICROSECONDS.")

#+sbcl
(defun relieve-heap (left)
  "A collection has LEFT too much.  If it is no garbage, end the code that may have made
it, which is then garbage."
  (when (and (> (- (microseconds) *proven-full*) 1000000)
             (collect-all left))
    (setf left (heap-used)))
  (let ((evaluations (remove-if-not (lambda (evaluation)
                                      (> left (heap-allowed (evaluation-heap-base evaluation))))
                                    (busy-evaluations)))
        (threads (filling-threads (live-session-threads) left)))
    (flet ((overp ()
             (and (notany #'registeredp evaluations)
                  (notany #'sb-thread:thread-alive-p (mapcar #'session-thread-thread threads)))))
      (when (or evaluations threads)
        (setf *proven-full* (microseconds))
        (mapc #'end-filling-thread threads)
        (mapc #'end-filling-evaluation evaluations)
        (loop repeat 50 until (overp) do (sleep 0.002))
        (when (overp) (collect-all (least-base evaluations threads)))))))
