;;;; stop.lisp -- evaluations in progress, and ending them from outside

(cl:in-package #:swank-mcp)

(defstruct (evaluation (:copier nil))
  token                  ; integer from the bridge, increasing
  session code thread
  form                   ; the one being evaluated
  system                 ; name of the one being loaded, or NIL
  work                   ; what is done in place of evaluating CODE, and
  report                 ; a function: what to tell of it; see work.lisp
  restore                ; what is to be brought back, or NIL, and
  (failures '())         ; what failed of it; see restore.lisp
  (journal '())          ; entries made, newest first
  (loaded '())           ; of systems loaded: (NAME FILE ...)
  (losses '())           ; (KEY-TEXT WHY) of definitions without source
  debuggee               ; of one that may be suspended; see suspend.lisp
  frame                  ; of a suspended one, in which this one evaluates
  nested                 ; evaluation of arguments in the debugger, or NIL
  (records '())          ; of warnings; see warnings.lisp
  origin                 ; file that defines the system it is about, or NIL
  (remarks '())          ; for the reply, newest first
  (replaced '())         ; definitions of somebody else's; see theirs.lisp
  (left '())             ; definitions that no file has; see orphans.lisp
  (started (microseconds))       ; see MICROSECONDS
  (heap-base 0)                  ; bytes in the heap then; see guest-watch.lisp
  (out (make-sink)) (err (make-sink))
  waits                  ; text on a lock that it waited for when it was stopped; see locks.lisp
  (activep nil)          ; true while ESCAPE may be called
  escape                 ; function of a report: ends the evaluation with it
  early-stop)            ; reason of a stop that came before ACTIVEP

(defvar *evaluations* '()
  "The evaluations in progress.")

(defvar *early-stops* '()
  "(TOKEN REASON SESSION-NAME) of each stop that overtook the evaluation it is for.")

(defvar *evaluation* nil
  "The evaluation that the current thread is busy with.")

(defun register (evaluation)
  (with-lock ()
    (let ((token (evaluation-token evaluation))
          (name (session-name (evaluation-session evaluation))))
      (setf (evaluation-early-stop evaluation) (second (assoc token *early-stops*))
            *early-stops* (remove-if (lambda (entry)
                                       (and (<= (first entry) token)
                                            (equal (third entry) name)))
                                     *early-stops*))
      (push evaluation *evaluations*)))
  (note-heap-base evaluation)
  (ensure-guest-watch))

(defun unregister (evaluation)
  (with-lock ()
    (setf *evaluations* (remove evaluation *evaluations*))))

(defun find-evaluation (token)
  (with-lock ()
    (find token *evaluations* :key #'evaluation-token)))

(defun others-work-p (session)
  "True while something is evaluated in another session."
  (with-lock ()
    (find session *evaluations* :key #'evaluation-session :test-not #'eq)))

(defun defining-elsewhere-p (session)
  "True while another thread evaluates for SESSION: it notes a definition a moment
before it makes it."
  (with-lock ()
    (find-if (lambda (evaluation)
               (and (eq session (evaluation-session evaluation))
                    (not (eq (swank/backend:current-thread) (evaluation-thread evaluation)))
                    (not (suspendedp evaluation))))
             *evaluations*)))

;;; The stop is an interrupt of the evaluating thread that leaves it by a
;;; non-local exit.  No condition is signalled, so no handler of the user can
;;; swallow it; cleanup forms run, and a second stop gets out of a cleanup that
;;; hangs.  An interrupt that comes too late must do nothing: ACTIVEP is cleared
;;; with interrupts off, on every way out.

(defun call-stoppably (evaluation function)
  #+sbcl
  (sb-sys:without-interrupts
    (unwind-protect
         (sb-sys:with-local-interrupts
           (setf (evaluation-activep evaluation) t)
           (when (evaluation-early-stop evaluation)
             (stop-here evaluation (evaluation-early-stop evaluation)))
           (funcall function))
      (setf (evaluation-activep evaluation) nil)))
  #-sbcl
  (unwind-protect
       (progn (setf (evaluation-activep evaluation) t)
              (funcall function))
    (setf (evaluation-activep evaluation) nil)))

(defun stop-here (evaluation reason)
  "In the thread of EVALUATION: end it, if it still runs, with a report of REASON.
One that is in the debugger, busy with arguments, ends only those."
  (let* ((nested (evaluation-nested evaluation))
         (evaluation (if (and nested (evaluation-activep nested)) nested evaluation)))
    (when (evaluation-activep evaluation)
      (funcall (evaluation-escape evaluation) (stop-report evaluation reason)))))

(defun stop-report (evaluation reason)
  (multiple-value-bind (frames total) (stopped-frames evaluation)
    (append (ecase reason
              ((:timeout :cancelled)
               (list :kind reason :type "" :message (or (evaluation-waits evaluation) "")))
              (:heap (list :kind :error :type "STORAGE-CONDITION" :message (heap-text "The evaluation")))
              ((:reset :expired :disconnected)
               (list :kind :error :type "ABORTED"
                     :message (ecase reason
                                (:reset "reset-session ended it.")
                                (:expired "It was suspended for too long.")
                                (:disconnected "The bridge has gone.")))))
            (frames-for-wire frames (or total 0)))))

(defun stopped-frames (evaluation)
  "As COLLECT-FRAMES; a form that calls nothing of the user's is the one frame."
  (let ((package (session-package (evaluation-session evaluation))))
    (multiple-value-bind (frames total) (ignore-errors (collect-frames *kept-frames* package))
      (cond (frames (values frames total))
            ((evaluation-form evaluation)
             (values (list (show-form (evaluation-form evaluation) package)) 1))))))

(defun frames-for-wire (frames total)
  "The part of a report that is about FRAMES.  All of them are :KEPT, which stays
here; see last-error.lisp."
  (let ((shown (subseq frames 0 (min *max-frames* (length frames)))))
    (list :frames shown :more (max 0 (- total (length shown))) :kept frames)))

(defun stop-evaluation (token reason &optional (session "default"))
  "End the evaluation TOKEN of SESSION with a report of REASON, :TIMEOUT or
:CANCELLED.  Called on another thread than the evaluation's.  True if it is in
progress; if it has not begun, it ends as soon as it does."
  (let ((evaluation
          (with-lock ()
            (let ((found (find token *evaluations* :key #'evaluation-token)))
              (if found
                  ;; in case it has not come to where it can be interrupted
                  (setf (evaluation-early-stop found) reason)
                  (push (list token reason session) *early-stops*))
              found))))
    (when evaluation
      (interrupt-evaluation evaluation reason))
    (answer (and evaluation t))))

(defun interrupt-evaluation (evaluation reason)
  (unless (stop-suspended evaluation reason)
    (unless (evaluation-waits evaluation)
      (setf (evaluation-waits evaluation)
            (ignore-errors (lock-advice (evaluation-thread evaluation)))))
    (ignore-errors                      ; the thread may have ended meanwhile
     (interrupt-safely (evaluation-thread evaluation)
                       (lambda () (stop-here evaluation reason))))))

(defun peek-output (token out-position err-position limit)
  "What the evaluation TOKEN has printed since those positions, at most LIMIT
characters of each stream: (OUT-POSITION OUT ERR-POSITION ERR), or NIL when it
is not in progress."
  (let ((evaluation (find-evaluation token)))
    (answer
     (when evaluation
       (multiple-value-bind (out out-position)
           (sink-since (evaluation-out evaluation) out-position limit)
         (multiple-value-bind (err err-position)
             (sink-since (evaluation-err evaluation) err-position limit)
           (list out-position out err-position err)))))))
