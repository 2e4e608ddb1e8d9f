;;;; inspect-frame.lisp -- a frame of a suspended evaluation

(cl:in-package #:swank-mcp)

(defun frame-disassembly (frame)
  (let ((sink (make-sink 8000)))
    (safely (let ((function (sbcl:debug-fun-fun (sbcl:frame-debug-fun frame))))
              (if function
                  (disassemble function :stream sink)
                  (write-line "; There is no function object to disassemble." sink))
              ""))
    (sink-string sink)))

(defun frame-for-wire (suspended frame number disassemble)
  (multiple-value-bind (with without) (frame-variables frame)
    (multiple-value-bind (form file changedp) (frame-source frame)
      (plist-without-nils
       :text (nth number (getf (debuggee-report (evaluation-debuggee suspended)) :kept))
       :locals (loop for (symbol . value) in with
                     collect (list (prin1-to-string symbol) (print-local value)))
       :missing (mapcar #'prin1-to-string without)
       :tags (loop for (tag) in (ignore-errors (sbcl:frame-catches frame))
                   unless (and (symbolp tag) (or (null (symbol-package tag))
                                                 (implementation-package-p (symbol-package tag))))
                     collect (show-form tag *package*))
       :source form
       :file file
       :changed changedp
       :whole (code-with-steps-p (sbcl:frame-debug-fun frame))
       :restartable (returnable-p frame)
       :disassembly (and disassemble (frame-disassembly frame))))))

(defun inspect-frame (suspended number &key disassemble)
  "Answer a plist about the user frame NUMBER of the SUSPENDED evaluation, a token."
  (let ((shown (find-shown-error suspended)) (session "default"))
    (if shown
        (with-look-up (session) (shown-frame-for-wire shown number))
        (inspect-suspended-frame suspended number disassemble))))

(defun inspect-suspended-frame (suspended number disassemble)
  (answer
   (command suspended
            (lambda (suspended)
              (call-with-frame
               suspended number
               (lambda (frame)
                 (multiple-value-bind (plist report)
                     (call-nested suspended
                                  (lambda ()
                                    (with-standard-io-syntax
                                      (let ((*package* (or (frame-package frame)
                                                           (live-package (evaluation-session suspended))))
                                            (*print-readably* nil))
                                        (frame-for-wire suspended frame number disassemble)))))
                   (if report (list :error (for-wire report)) plist)))))
            *inspection-limit*)))
