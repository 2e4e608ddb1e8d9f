;;;; shown-frames.lisp -- frames of an error that a person shows

(cl:in-package #:swank-mcp)

;;; The person's thread takes no commands: it waits in Swank's debugger.  It is interrupted to read a
;;; frame, which takes a moment.  The values are printed here, by the thread that was asked.

(defun shown-frame-data (frame)
  (multiple-value-bind (with without) (frame-variables frame)
    (list with without
          (multiple-value-list (frame-source frame))
          (frame-package frame)
          (code-with-steps-p (sbcl:frame-debug-fun frame)))))

(defun shown-frame-for-wire (shown number)
  "A plist about the frame NUMBER of SHOWN, or a refusal."
  (let ((frame (nth number (shown-error-frames shown))))
    (if (null frame)
        (refusal "UNKNOWN-FRAME" "There is no frame ~D. Valid: 0~@[ to ~D~]." number
                 (and (rest (shown-error-frames shown)) (1- (length (shown-error-frames shown)))))
        (multiple-value-bind (data state)
            (call-in-shown-thread (shown-error-thread shown)
                                  (lambda () (and (>= swank::*sldb-level* (shown-error-level shown))
                                                     (shown-frame-data frame))))
          (cond (data (shown-data-for-wire shown number data))
                ((eq state :silent)
                 (refusal "BUSY" "The person's thread does not answer: it runs something else just now. Try again."))
                (t (list :absent :ended)))))))

(defun shown-data-for-wire (shown number data)
  (destructuring-bind (with without (&optional form file changedp) package whole) data
    (with-standard-io-syntax
      (let ((*package* (or package (user-package))) (*print-readably* nil))
        (plist-without-nils
         :text (nth number (getf (shown-error-report shown) :kept))
         :locals (loop for (symbol . value) in with
                       collect (list (prin1-to-string symbol) (print-local value)))
         :missing (mapcar #'prin1-to-string without)
         :source form :file file :changed changedp :whole whole)))))

(defun call-in-shown-thread (thread function)
  "(VALUES RESULT STATE), as of ASK-THREAD.  An error of FUNCTION must not open another level of the
person's debugger."
  (flet ((call ()
           (let ((sbcl:*handler-clusters* sbcl:**initial-handler-clusters**)) ; SLDB handles conditions
             (handler-case (funcall function)
               (serious-condition () nil)))))
    (if (eq thread (swank/backend:current-thread))
        (values (call) :answered)
        (loop repeat 8                  ; it waits in foreign code, which may take several interrupts
              do (multiple-value-bind (result state) (ask-thread thread #'call)
                   (unless (eq state :silent) (return (values result state))))
              finally (return (values nil :silent))))))
