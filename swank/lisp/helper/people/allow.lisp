;;;; allow.lisp -- ALLOW: for what an agent needs the person's yes

(cl:in-package #:swank-mcp)

;;; A question is asked everywhere at once: in each Emacs that is connected, and by each bridge,
;;; which shows it where somebody watches its server.  The first answer counts, and the others are
;;; told.

(defparameter *answer-patience* 20
  "For how many seconds an evaluation waits for the person's answer.")

(defparameter *waits-for-answer* "It waited for the person's answer.")

(defstruct (question (:constructor make-question (number text)) (:copier nil))
  number text
  (answer nil))                         ; :YES, :NO, :SILENCE or :STOPPED, once it is settled

(defvar *questions* '()
  "The newest questions, newest first.")

(defvar *last-question* 0)

(defparameter *kept-questions* 50)

(defun settle (question answer)
  "Make ANSWER that of QUESTION and return true, if it has none yet."
  (with-lock ()
    (unless (question-answer question)
      (setf (question-answer question) answer))))

(defun add-question (text)
  (with-lock ()
    (let ((question (make-question (incf *last-question*) text)))
      (setf *questions* (first-few (cons question *questions*) *kept-questions*))
      question)))

(defun ask-in-own-thread (question connection)
  "Ask QUESTION in the Emacs behind CONNECTION.  Return the thread that waits for the answer there."
  (in-own-thread "swank-mcp question"
                 (lambda ()
                   (ignore-errors       ; that Emacs has gone: it says neither yes nor no
                    (settle question
                            (if (ask-in-editor connection (question-text question)) :yes :no))))))

(defun withdraw (question asked)
  "Tell everybody how QUESTION was settled.  ASKED has (CONNECTION . THREAD) for each Emacs."
  (tell-bridges "answered ~D ~(~A~)" (question-number question) (question-answer question))
  (loop for (connection . thread) in asked
        do (when (swank/backend:thread-alive-p thread)
             (ignore-errors (swank/backend:kill-thread thread))
             (when (member (question-answer question) '(:yes :no))
               (ignore-errors
                (tell-in-editor connection
                                (format nil "answered elsewhere, by ~(~A~): ~A"
                                        (question-answer question) (question-text question))))))))

(defun await-answer (question evaluation)
  "Return when QUESTION about EVALUATION is settled."
  (loop with end = (+ (microseconds) (* 1000000 *answer-patience*))
        until (question-answer question)
        do (cond ((and (evaluation-early-stop evaluation)
                       ;; of one that has begun, a stop ends this wait by an interrupt
                       (not (evaluation-activep evaluation)))
                  (settle question :stopped))
                 ((> (microseconds) end) (settle question :silence))
                 (t (sleep 0.02)))))

(defun answer-to (evaluation text)
  "The person's answer to the question TEXT about EVALUATION: :YES, :NO, :SILENCE, :NOBODY if nobody
can be asked, or :STOPPED if EVALUATION is to end before."
  (let ((editors (editors)))
    (if (not (or editors (bridges-p)))
        :nobody
        (let ((question (add-question text)) (asked '()))
          (setf (evaluation-waits evaluation) *waits-for-answer*)
          (unwind-protect
               (progn
                 (tell-bridges "asks ~D ~D~%~A" (question-number question)
                               (ceiling *answer-patience*) text)
                 (dolist (connection editors)
                   (push (cons connection (ask-in-own-thread question connection)) asked))
                 (await-answer question evaluation))
            (settle question :stopped)
            (withdraw question asked))
          (when (member (question-answer question) '(:yes :no))
            (setf (evaluation-waits evaluation) nil))
          (question-answer question)))))

(defun refusal-after (answer what)
  "A report that the person's ANSWER forbids WHAT; NIL if it does not."
  (flet ((refused (control &rest arguments)
           (failure "NOT-ALLOWED" (format nil "~?" control arguments))))
    (ecase answer
      ((:yes :stopped) nil)
      (:no (refused "The person was asked and does not allow ~A." what))
      (:silence (refused "The person was asked whether to allow ~A, and has not answered within ~D seconds. Tell them that the question comes in Emacs and in `swank-mcp watch`, and send it again."
                         what *answer-patience*))
      (:nobody (refused "The person wants to be asked before ~A, and nobody can be asked: no Emacs is connected to this image, and no server. Tell them, and send it again."
                        what)))))

(defun ask-person (evaluation what)
  "A report that the person does not allow EVALUATION, or, with WHAT, that it redefines that; or NIL."
  (let* ((action (evaluation-action evaluation))
         (who (if action (action-who action) "An agent"))
         (code (clip (on-one-line (code-for-people (evaluation-code evaluation) 400)) 150)))
    (refusal-after (answer-to evaluation
                              (format nil "~A ~:[evaluates~;redefines ~:*~A in~]: ~A" who what code))
                   (if what (format nil "that this redefines ~A" what) "this"))))

(defun set-policy (policy)
  (setf *ask-person* (and (not (eq policy :everything)) #'ask-person)
        *ask-always* (eq policy :nothing))
  (tell-bridges "policy ~A" (policy)))

(defun allow (policy &key (patience 20))
  "Say what agents may do in this image without asking you.  POLICY is :EVERYTHING, as at first; :NEW,
to be asked before a form of theirs redefines what they have not defined themselves; or :NOTHING, to
be asked before each evaluation.  You are asked in each connected Emacs, and where you watch a server by
swank-mcp watch; your first answer counts.  A call waits PATIENCE seconds for it, which are part of its
time limit; then the agent reads that nobody has answered, and nothing was evaluated.  Return POLICY."
  (for-people-only 'allow)
  (check-type policy (member :everything :new :nothing))
  (check-type patience (real (0)))
  (setf *answer-patience* patience)
  (set-policy policy)
  policy)

(defun allow-for-bridge (policy)
  "Called by a bridge whose person has said what agents may do."
  (set-policy policy)
  (answer t))

(defun answer-question (number yes)
  "Called by a bridge whose person has answered the question NUMBER.  The answer is a plist: :COUNTS,
true if that is the first answer; :ANSWER, what it is now, \"\" if there was no such question."
  (let* ((question (with-lock () (find number *questions* :key #'question-number)))
         (counts (and question (settle question (if yes :yes :no)))))
    (answer (list :counts (and counts t)
                  :answer (if question (string-downcase (question-answer question)) "")))))
