;;;; foreign.lisp -- programs that look at what surrounds them see what they see in plain SBCL

(cl:in-package #:swank-mcp)

(defun last-datum (text)
  "What stands at the end of TEXT, behind what the code has written."
  (read-from-string text t nil :start (+ (search "answers " text :from-end t) (length "answers "))))

(defun without-addresses (text)
  (let ((at (search "{" text)))
    (if at
        (concatenate 'string (subseq text 0 at)
                     (without-addresses (subseq text (1+ (position #\} text :start at)))))
        text)))

(defun plain-output (code)
  "What CODE prints in a plain SBCL."
  (with-output-to-string (out)
    (sb-ext:run-program sb-ext:*runtime-pathname*
                        (list "--noinform" "--no-sysinit" "--no-userinit" "--eval" code "--quit")
                        :input nil :output out :error nil)))

(defun plain (&rest codes)
  "What a plain SBCL prints of each of CODES: its value, or the report of its error."
  (with-standard-io-syntax
    (last-datum
     (with-output-to-string (out)
       (sb-ext:run-program
        sb-ext:*runtime-pathname*
        (list "--noinform" "--no-sysinit" "--no-userinit" "--eval"
              (format nil "(format t \"~~&answers ~~S\" (loop for code in '~S
                                        collect (handler-case (eval (read-from-string code))
                                                  (error (condition) (princ-to-string condition))
                                                  (:no-error (&optional value &rest more)
                                                    (declare (ignore more))
                                                    (prin1-to-string value)))))"
                      codes)
              "--quit")
        :input nil :output out :error nil)))))

(defun in-session (code)
  "The same of a session, printed as the session prints."
  (let ((answer (evaluated code)))
    (if (getf answer :error)
        (getf (getf answer :error) :message)
        (first (first (getf answer :values))))))

(defun check-plain (&rest codes)
  "Each of CODES has the same value, or the same error, in a session and in plain SBCL."
  (loop for code in codes
        for text in (apply #'plain codes)
        do (check (list code (without-addresses (in-session code))) (list code (without-addresses text)))))

;;; A report may begin as an unreadable object does.

(define-condition begins-unreadably (error) ()
  (:report (lambda (condition stream) (declare (ignore condition)) (write-string "#<A> is late" stream))))

(define-condition without-report (error) ())

(define-test reports-that-begin-unreadably
  (check-plain "(error \"~S is not ready\" (make-hash-table))"
               "(error 'simple-error :format-control \"#<A>\")"
               "(progn (define-condition unreadable (error) () (:report \"#<A> is late\")) (error 'unreadable))"
               "(make-instance 'structure-object)"
               "(aref (make-array 3) 5)")
  (check (condition-text (make-condition 'begins-unreadably)) "#<A> is late")
  (check (condition-text (make-condition 'without-report)) "Condition SWANK-MCP::WITHOUT-REPORT was signalled.")
  (check (without-addresses
          (second (first (getf (evaluated "(warn \"~S is late\" (make-hash-table))") :warnings))))
         "#<HASH-TABLE :TEST EQL :COUNT 0 > is late"))

;;; Streams are of characters, and at their end, as those of a process without input.

(define-test streams
  (check-plain
   "(mapcar #'stream-element-type (list *standard-input* *standard-output* *error-output* *trace-output*
                                      *terminal-io* *query-io* *debug-io*))"
   "(stream-element-type (make-concatenated-stream *standard-input*))"
   "(mapcar #'interactive-stream-p (list *standard-input* *standard-output* *terminal-io* *query-io*))"
   "(mapcar #'input-stream-p (list *standard-input* *standard-output* *terminal-io* *query-io* *debug-io*))"
   "(mapcar #'output-stream-p (list *standard-input* *standard-output* *terminal-io* *query-io* *debug-io*))"
   "(mapcar #'open-stream-p (list *standard-input* *standard-output* *terminal-io* *query-io* *debug-io*))"
   "(list (read-char *standard-input* nil :end) (peek-char nil *terminal-io* nil :end) (read-line *query-io* nil :end)
        (read *debug-io* nil :end) (read-char-no-hang *terminal-io* nil :end) (read-byte *standard-input* nil :end)
        (listen) (listen *query-io*) (clear-input) (clear-input *query-io*)
        (read-sequence (make-string 3) *standard-input*)
        (read-sequence (make-array 3 :element-type '(unsigned-byte 8)) *standard-input*))"
   "(mapcar (lambda (stream) (process-exit-code (run-program \"/bin/echo\" '(\"x\") :output stream)))
          (list *standard-output* *error-output* *terminal-io* *query-io* *debug-io*))"
   "(mapcar (lambda (stream) (with-output-to-string (out) (run-program \"/bin/cat\" '() :input stream :output out)))
          (list *standard-input* *terminal-io* *query-io*))")
  ;; they take bytes
  (check (first (getf (evaluated "(progn (write-byte 65 *standard-output*)
                                       (write-sequence #(66 195 169 #\\c 10) *standard-output*)
                                       (write-sequence (coerce '(226 130 172 255 10) '(vector (unsigned-byte 8))) *terminal-io*)
                                       (write-sequence \"xyz\" *standard-output* :start 1))")
                      :stdout))
         (format nil "AB~Cc~%~C?~%yz" (code-char 233) (code-char 8364)))
  ;; lines are as long as those of a process' own output
  (check (first (getf (evaluated "(format t \"~{~<~%~1:;~A ~>~}\" (loop repeat 40 collect 'name))") :stdout))
         (plain-output "(format t \"~{~<~%~1:;~A ~>~}\" (loop repeat 40 collect 'name))"))
  (check (sink-text (let ((sink (make-sink 1))) (write-string "some" sink) (write-string "more" sink) sink)) '("s" "e" 6))
  (check (first (getf (evaluated "(run-program \"/bin/echo\" '(\"x\") :output *terminal-io*)") :stdout)) "x
")
  (check (loop for stream in '("" " *terminal-io*" " *query-io*" " *debug-io*")
               collect (subseq (in-session (format nil "(read-char~A)" stream)) 0 12))
         '("End of file:" "End of file:" "End of file:" "End of file:")))

;;; *DEBUGGER-HOOK* is NIL where the session prints values, too.

(define-test debugger-hook-in-printing
  (check-plain "(progn (defclass looks () ())
                     (defmethod print-object ((object looks) stream) (format stream \"<~S>\" *debugger-hook*))
                     (make-instance 'looks))"))

;;; A condition is shown by a name for which a handler can be written.

(define-test names-of-conditions
  (check (loop for code in '("(defun car (x) x)"
                             "(progn (defpackage :conflict-a (:export :same)) (defpackage :conflict-b (:export :same))
                                   (defpackage :conflict-both (:use :conflict-a :conflict-b)))"
                             "(sb-ext:with-timeout 0.05 (sleep 5000))"
                             "(open \"/nowhere/at/all\")"
                             "(progn (defconstant +unequal+ (list 1)) (eval '(defconstant +unequal+ (list 2))))"
                             "(sb-ext:delete-directory \"/nowhere/at/all/\")"
                             "(intern \"X\" :no-such-package)"
                             "(no-such-package:x)"
                             "(aref (vector 1) 2)" "(parse-integer \"x\")" "(make-array -1)" "(error \"x\")")
               collect (getf (getf (evaluated code) :error) :type))
         '("SB-EXT:SYMBOL-PACKAGE-LOCKED-ERROR" "SB-EXT:NAME-CONFLICT" "SB-EXT:TIMEOUT" "SB-EXT:FILE-DOES-NOT-EXIST"
           "SB-EXT:DEFCONSTANT-UNEQL" "FILE-ERROR" "PACKAGE-ERROR" "READER-ERROR" "TYPE-ERROR" "PARSE-ERROR" "TYPE-ERROR" "SIMPLE-ERROR"))
  (check-plain
   "(dolist (stream (list *terminal-io* *query-io* *debug-io*) :done)
    (let ((*print-pretty* t) (*print-right-margin* nil))
      (format stream \"a~&b~10Tc~<d ~:_~a~:>~%\" (list (make-list 100)))
      (fresh-line stream) (print (make-list 50) stream) (terpri stream)
      (finish-output stream) (force-output stream) (clear-output stream)))"
   "(list (close (make-two-way-stream *standard-input* *standard-output*)))"
   "(loop for ask in '(y-or-n-p yes-or-no-p read read-line read-char peek-char)
        collect (handler-case (funcall ask) (end-of-file () :end)))"))

;;; Warnings go to who captures them.

(define-test captured-warnings
  (apply #'check-plain
         (append
          '("(with-output-to-string (*error-output*) (warn \"Foo!\"))"
            "(with-output-to-string (*error-output*) (warn 'style-warning))"
            "(with-output-to-string (*error-output*) (eval '(defun captures-nothing (x) 1)))"
            "(with-output-to-string (*error-output*) (handler-bind ((warning #'muffle-warning)) (warn \"Foo!\")))"
            "(with-output-to-string (out) (let ((*error-output* out)) (signal 'warning)))"
            "(let ((seen '()))
             (handler-bind ((warning (lambda (c) (push (type-of c) seen)))
                            (sb-ext:compiler-note (lambda (c) (push (type-of c) seen))))
               (compile nil '(lambda (x) (no-such-function-here) (let ((y (1+ 1))) (car 1)))))
             seen)"
            "(handler-case (warn \"Foo!\") (warning () :mine))")
          (loop for lambda in '("(lambda (x) 1)" "(lambda () (car 1))" "(lambda () (no-such-function-here) no-such-variable-here)"
                                "(lambda () (let 1))" "(lambda (&key x &key y) 1)")
                append (list (format nil "(with-output-to-string (*error-output*) (compile nil '~A))" lambda)
                             (format nil "(let ((*error-output* (make-broadcast-stream)))
                                          (rest (multiple-value-list (compile nil '~A))))" lambda)))))
  (check (getf (evaluated "(with-output-to-string (*error-output*) (warn \"Foo!\"))") :warnings) nil)
  (check (let ((answer (evaluated "(progn (warn \"a\") (let ((*error-output* *standard-output*)) (warn \"b\")) (warn \"c\"))")))
           (list (getf answer :warnings) (getf answer :stdout)))
         '((("WARNING" "a") ("WARNING" "c")) ("WARNING: b
"))))

;;; Nobody has bound *DEBUGGER-HOOK*.

(define-test debugger-hook
  (check-plain
   "*debugger-hook*"
   ;; INVOKE-DEBUGGER.1 of the ANSI tests
   "(block done
    (let ((*debugger-hook* (lambda (condition hook)
                             (return-from done (list (type-of condition) (functionp hook) *debugger-hook*)))))
      (invoke-debugger (make-condition 'simple-condition :format-control \"x\"))))"
   "(let ((order '()))
    (block done
      (let ((*debugger-hook* (lambda (condition hook)
                               (push :outer order) (return-from done order))))
        (let ((*debugger-hook* (lambda (condition hook)
                                 (push :inner order)
                                 (let ((*debugger-hook* (lambda (condition hook) (push :within order) (return-from done order))))
                                   (invoke-debugger (make-condition 'error))))))
          (invoke-debugger (make-condition 'error))))))"
   "(let ((*debugger-hook* (lambda (condition hook) (continue))))
    (list (with-simple-restart (continue \"Go on.\") (invoke-debugger (make-condition 'error))) (null *debugger-hook*)))")
  (flet ((message (code) (getf (getf (evaluated code) :error) :message)))
    (check (message "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (error \"in it\")))) (error \"x\"))") "in it")
    (check (message "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h))))) (error \"x\"))") "x")
    (check (message "(sb-ext:disable-debugger) (error \"x\")") "x")
    (check (message "(break \"here\")") "here")))
