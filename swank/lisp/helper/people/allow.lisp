;;;; allow.lisp -- ALLOW: for what an agent needs the person's yes

(cl:in-package #:swank-mcp)

(defparameter *answer-patience* 20
  "For how many seconds an evaluation waits for the person's answer.")

(defparameter *waits-for-answer* "It waited for the person's answer.")

(defun emacs-connection ()
  "A connection through which a person can be asked, one with a REPL if there is one; or NIL."
  (or (first (repls))
      (find-if #'control-thread swank::*connections*)))

(defun asked-in-emacs (connection question)
  "A function that returns the answer, :YES or :NO, to QUESTION, or NIL if there is none yet; and one
that gives up."
  (let ((answer nil) (thread nil))
    (setf thread (in-own-thread "swank-mcp question"
                                (lambda ()
                                  (swank::with-connection (connection)
                                    (setf answer
                                          (if (ignore-errors (swank:y-or-n-p-in-emacs "~A" question))
                                              :yes
                                              :no))))))
    (values (lambda () answer)
            (lambda ()
              (ignore-errors (swank/backend:kill-thread thread))))))

(defun answer-to (evaluation question)
  "The person's answer to QUESTION about EVALUATION: :YES, :NO, :SILENCE, :NOBODY if nobody can be
asked, or :STOPPED if EVALUATION is to end before."
  (let ((connection (emacs-connection)))
    (if (null connection)
        :nobody
        (multiple-value-bind (answer give-up) (asked-in-emacs connection question)
          (setf (evaluation-waits evaluation) *waits-for-answer*)
          (loop with end = (+ (microseconds) (* 1000000 *answer-patience*))
                for said = (funcall answer)
                do (cond (said
                          (setf (evaluation-waits evaluation) nil)
                          (return said))
                         ((evaluation-early-stop evaluation)
                          (funcall give-up)
                          (return :stopped))
                         ((> (microseconds) end)
                          (funcall give-up)
                          (return :silence)))
                   (sleep 0.02))))))

(defun refusal-after (answer what)
  "A report that the person's ANSWER forbids WHAT; NIL if it does not."
  (flet ((refused (control &rest arguments)
           (failure "NOT-ALLOWED" (format nil "~?" control arguments))))
    (ecase answer
      ((:yes :stopped) nil)
      (:no (refused "The person was asked and does not allow ~A." what))
      (:silence (refused "The person was asked whether to allow ~A, and has not answered within ~D seconds. Ask them, and send it again."
                         what *answer-patience*))
      (:nobody (refused "The person wants to be asked before ~A, and nobody can be asked: no Emacs is connected to this image."
                        what)))))

(defun ask-person (evaluation what)
  "A report that the person does not allow EVALUATION, or, with WHAT, that it redefines that; or NIL."
  (let* ((action (evaluation-action evaluation))
         (who (if action (action-who action) "An agent"))
         (code (clip (on-one-line (code-for-people (evaluation-code evaluation) 400)) 150)))
    (refusal-after (answer-to evaluation
                              (format nil "~A ~:[evaluates~;redefines ~:*~A in~]: ~A  Allow it? " who what code))
                   (if what (format nil "that this redefines ~A" what) "this"))))

(defun allow (policy &key (patience 20))
  "Say what agents may do in this image without asking you.  POLICY is :EVERYTHING, as at first; :NEW,
to be asked before a form of theirs redefines what they have not defined themselves; or :NOTHING, to
be asked before each evaluation.  You are asked in Emacs.  A call waits PATIENCE seconds for your answer,
which are part of its time limit; then the agent reads that nobody has answered, and nothing was
evaluated.  Return POLICY."
  (for-people-only 'allow)
  (check-type policy (member :everything :new :nothing))
  (check-type patience (real (0)))
  (setf *answer-patience* patience
        *ask-person* (and (not (eq policy :everything)) #'ask-person)
        *ask-always* (eq policy :nothing))
  policy)
