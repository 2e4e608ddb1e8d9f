;;;; inspect-frame.lisp -- a frame of a suspended evaluation

(cl:in-package #:swank-mcp)

(defparameter *inspection-limit* 2
  "Seconds that printing a frame's values may take.")

(defun print-local (value)
  "VALUE on one line, bounded; this is PRIN1, so methods of the user's may run."
  (let ((sink (make-sink 500)))
    (multiple-value-bind (trouble failedp)
        (call-safely
         (lambda ()
           (let ((*print-length* 20) (*print-level* 5) (*print-circle* t) (*print-lines* nil)
                 (*print-pretty* nil) (*print-readably* nil) (*print-escape* t)
                 (*print-array* t))
             (prin1 value sink))))
      (if failedp
          trouble
          (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
            (format nil "~A~@[ ... ~D characters ... ~A~]" head omitted tail))))))

#+sbcl
(defun frame-variables (frame)
  "The user's variables: a list of (SYMBOL . VALUE), and one of the symbols of
those that have no value where the frame is."
  (let ((location (sb-di:frame-code-location frame)) (with '()) (without '())
        (users (not (eql 0 (search "SYS:" (or (nth-value 1 (frame-source frame)) ""))))))
    (loop for variable across (coerce (or (sb-di::debug-fun-debug-vars (sb-di:frame-debug-fun frame)) #())
                                      'vector)
          for symbol = (sb-di:debug-var-symbol variable)
          ;; those that macros make have no package
          unless (or (null (symbol-package symbol)) (implementation-package-p (symbol-package symbol)))
            do (if (eq :valid (sb-di:debug-var-validity variable location))
                   (push (cons symbol (sb-di:debug-var-value variable frame)) with)
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
  (let* ((location (sb-di:frame-code-location frame))
         (source (ignore-errors (sb-di:code-location-debug-source location)))
         (file (and source (ignore-errors (sb-di:debug-source-namestring source))))
         (changedp (and file (ignore-errors (probe-file file))
                        (not (eql (file-write-date file) (sb-di:debug-source-created source)))))
         (form (and (not changedp)
                    (ignore-errors (sb-debug::code-location-source-form location 0)))))
    (values (and form (source-text form)) file changedp)))

#+sbcl
(defun code-with-steps-p (debug-fun)
  "True of code that has places where stepping stops, as that compiled with DEBUG 3 has."
  (handler-case
      (sb-di:do-debug-fun-blocks (block debug-fun)
        (sb-di:do-debug-block-locations (location block)
          (when (string/= "" (sb-di::compiled-code-location-step-info location))
            (return-from code-with-steps-p t))))
    (sb-di:debug-condition () nil)))

(defun source-text (form)
  (let ((*print-pretty* t) (*print-length* 30) (*print-level* 8) (*print-right-margin* 100)
        (*print-lines* nil) (*print-circle* nil) (*print-case* :downcase))
    (clip (safely (with-output-to-string (s) (write form :stream s :escape t))) 3000)))

#+sbcl
(defun frame-disassembly (frame)
  (let ((sink (make-sink 8000)))
    (safely (let ((function (sb-di:debug-fun-fun (sb-di:frame-debug-fun frame))))
              (if function
                  (disassemble function :stream sink)
                  (write-line "; There is no function object to disassemble." sink))
              ""))
    (destructuring-bind (&optional (head "") tail omitted) (sink-text sink)
      (format nil "~A~@[~%; ... ~D characters ...~%~A~]" head omitted tail))))

#+sbcl
(defun frame-for-wire (suspended frame number disassemble)
  (multiple-value-bind (with without) (frame-variables frame)
    (multiple-value-bind (form file changedp) (frame-source frame)
      (plist-without-nils
       :text (nth number (getf (debuggee-report (evaluation-debuggee suspended)) :kept))
       :locals (loop for (symbol . value) in with
                     collect (list (prin1-to-string symbol) (print-local value)))
       :missing (mapcar #'prin1-to-string without)
       :tags (loop for (tag) in (ignore-errors (sb-di:frame-catches frame))
                   unless (and (symbolp tag) (or (null (symbol-package tag))
                                                 (implementation-package-p (symbol-package tag))))
                     collect (show-form tag *package*))
       :source form
       :file file
       :changed changedp
       :whole (code-with-steps-p (sb-di:frame-debug-fun frame))
       :restartable (returnable-p frame)
       :disassembly (and disassemble (frame-disassembly frame))))))

#+sbcl
(defun inspect-frame (suspended number &key disassemble)
  "A plist about the user frame NUMBER of the SUSPENDED evaluation, a token."
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

#-sbcl
(defun inspect-frame (suspended number &key disassemble)
  (declare (ignore suspended number disassemble))
  (answer (list :absent :ended)))
