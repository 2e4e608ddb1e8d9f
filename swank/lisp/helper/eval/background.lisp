;;;; background.lisp -- jobs: evaluations in the background

(cl:in-package #:swank-mcp)

;;; A job runs on a thread of its own beside its session's evaluations, and has no part in the
;;; session's variables.  EVALUATE begins one; an evaluation that takes too long becomes one, and
;;; keeps its thread.

(defun make-job (token)
  "Make the evaluation TOKEN a job.  Answer whether it is in progress."
  (let ((evaluation (find-evaluation token)))
    (when evaluation (setf (evaluation-job evaluation) t))
    (answer (and evaluation t))))

(defun job-output (token)
  "Answer (:STDOUT TEXT :STDERR TEXT), what the evaluation TOKEN has printed; NIL if it is not in
progress."
  (let ((evaluation (find-evaluation token)))
    (answer (and evaluation
                 (plist-without-nils :stdout (sink-text (evaluation-out evaluation))
                                     :stderr (sink-text (evaluation-err evaluation)))))))
