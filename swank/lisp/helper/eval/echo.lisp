;;;; echo.lisp -- what the agent evaluates, shown in the person's REPL

(cl:in-package #:swank-mcp)

;;; SLIME puts what a :WRITE-STRING event brings above the prompt, and leaves
;;; what is being typed alone.  The event goes straight to the thread that
;;; writes to that Emacs: Swank's own way would wait for an Emacs that is busy,
;;; and with it the evaluation.  An Emacs that has stopped reading misses echoes,
;;; and nothing else.

(defparameter *echo-lines* 10)
(defparameter *echo-columns* 200)
(defparameter *echo-backlog* 500
  "More unread messages than this, and an Emacs gets no echoes until it has read.")

(defun echo-p (evaluation)
  (and *guests*
       (let* ((debuggee (evaluation-debuggee evaluation))
              (guest (find-guest (or (own-connection)
                                     (and debuggee (debuggee-connection debuggee))))))
         (and guest (guest-echo guest)))))

(defun unread (thread)
  "How many messages wait for THREAD."
  #+sbcl
  (let ((mailbox (find-symbol "MAILBOX" '#:swank/sbcl))
        (queue (find-symbol "MAILBOX.QUEUE" '#:swank/sbcl)))
    (if (and mailbox (fboundp mailbox) queue (fboundp queue))
        (length (funcall queue (funcall mailbox thread)))
        0))
  #-sbcl (progn thread 0))

(defun echo (text)
  "Show TEXT above the prompt of every REPL that a person has open."
  (dolist (connection swank::*connections*)
    (ignore-errors
     (let ((thread (control-thread connection)))
       (when (and thread
                  (swank::connection.user-output connection)
                  (< (unread thread) *echo-backlog*))
         (swank/backend:send thread (list :write-string text)))))))

(defun echo-lines (prefix text)
  "TEXT as comment lines, the first after PREFIX, shortened."
  (let ((lines (with-input-from-string (in text)
                 (loop for line = (read-line in nil)
                       while line
                       when (plusp (length (string-trim " " line)))
                         collect (clip line *echo-columns*)))))
    (with-output-to-string (out)
      (loop for line in (or lines '(""))
            for count from 1
            do (cond ((> count *echo-lines*)
                      (format out ";   ... ~D more lines~%" (- (length lines) *echo-lines*))
                      (return))
                     (t (write-string (if (= count 1) prefix ";   ") out)
                        (write-string line out)
                        (terpri out)))))))

(defun echo-code (evaluation)
  (let ((code (evaluation-code evaluation)))
    (echo (with-standard-io-syntax
            (echo-lines "; swank-mcp> "
                        (cond ((evaluation-system evaluation)
                               (format nil "load-system ~A" (evaluation-system evaluation)))
                              ((stringp code) (subseq code 0 (min (length code) 10000)))
                              (t (let ((*print-readably* nil)) (safely (prin1-to-string code))))))))))

(defun echo-result (texts report)
  "TEXTS and REPORT as PERFORM returns them."
  (echo (with-standard-io-syntax
          (if report
              (echo-lines "; => " (if (eq (getf report :kind) :error)
                                      (format nil "[ERROR] ~A~%~A" (getf report :type)
                                              (getf report :message))
                                      (format nil "[~A]" (getf report :kind))))
              (format nil "~:[; No values~%~;~:*~{~A~}~]"
                      (loop for (head) in texts
                            repeat 5
                            collect (echo-lines "; => " head)))))))
