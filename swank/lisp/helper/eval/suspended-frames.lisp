;;;; suspended-frames.lisp -- the frames of a suspended evaluation, and what is in them

(cl:in-package #:swank-mcp)

(defun refusal (type control &rest arguments)
  "An outcome: nothing was done."
  (list :error (for-wire (failure type (apply #'format nil control arguments)))))

(defparameter *inspection-limit* 2
  "Seconds that printing a frame's values may take.")

#+sbcl
(defun frame-variables (frame)
  "The user's variables: a list of (SYMBOL . VALUE), and one of the symbols of
those that have no value where the frame is."
  (let ((location (sbcl:frame-code-location frame)) (with '()) (without '())
        (users (not (eql 0 (search "SYS:" (or (nth-value 1 (frame-source frame)) ""))))))
    (loop for variable across (coerce (or (sbcl:debug-fun-debug-vars (sbcl:frame-debug-fun frame)) #())
                                      'vector)
          for symbol = (sbcl:debug-var-symbol variable)
          ;; those that macros make have no package
          unless (or (null (symbol-package symbol)) (implementation-package-p (symbol-package symbol)))
            do (if (eq :valid (sbcl:debug-var-validity variable location))
                   (push (cons symbol (sbcl:debug-var-value variable frame)) with)
                   ;; FORMAT, for one, brings variables of its own
                   (when (and users (not (eq (symbol-package symbol)
                                             (find-package '#:common-lisp))))
                     (push symbol without))))
    (values (nreverse with)
            (set-difference (remove-duplicates (nreverse without)) (mapcar #'car with)))))

#+sbcl
(defun frame-source (frame)
  "The form that the frame is at, and the file that its code came from, or NIL; and
whether that file is another one by now, in which SBCL would find another form."
  (let* ((location (sbcl:frame-code-location frame))
         (source (ignore-errors (sbcl:code-location-debug-source location)))
         (file (and source (ignore-errors (sbcl:debug-source-namestring source))))
         (changedp (and file (ignore-errors (probe-file file))
                        (not (eql (file-write-date file) (sbcl:debug-source-created source)))))
         (form (and (not changedp)
                    (ignore-errors (sbcl:code-location-source-form location 0)))))
    (values (and form (source-text form)) file changedp)))

(defun source-text (form)
  (let ((*print-pretty* t) (*print-length* 30) (*print-level* 8) (*print-right-margin* 100)
        (*print-lines* nil) (*print-circle* nil) (*print-case* :downcase))
    (clip (safely (with-output-to-string (s) (write form :stream s :escape t))) 3000)))

#+sbcl
(defun code-with-steps-p (debug-fun)
  "True of code that has places where stepping stops, as that compiled with DEBUG 3 has."
  (handler-case
      (sbcl:do-debug-fun-blocks (block debug-fun)
        (sbcl:do-debug-block-locations (location block)
          (when (string/= "" (sbcl:compiled-code-location-step-info location))
            (return-from code-with-steps-p t))))
    (sbcl:debug-condition () nil)))

(defun call-with-frame (suspended number function)
  "Call FUNCTION with the user frame NUMBER; a refusal if there is none."
  (let* ((frames (debuggee-frames (evaluation-debuggee suspended)))
         (frame (nth number frames)))
    (cond (frame (funcall function frame))
          (frames (refusal "UNKNOWN-FRAME" "There is no frame ~D. Valid: 0~@[ to ~D~]." number
                           (and (rest frames) (1- (length frames)))))
          (t (refusal "UNKNOWN-FRAME" "There is no frame here: the form itself failed, outside of any function.")))))

#+sbcl
(defun returnable-p (frame)
  (ignore-errors (and (sbcl:frame-has-debug-tag-p frame) t)))
