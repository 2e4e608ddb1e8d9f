;;;; foreign-test.lisp -- programs that look at what surrounds them see what they
;;;; see in plain SBCL; loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

(defun plain (&rest codes)
  "What a plain SBCL prints of each of CODES: its value, or the report of its error."
  (with-standard-io-syntax
    (read-from-string
     (with-output-to-string (out)
       (sb-ext:run-program
        sb-ext:*runtime-pathname*
        (list "--noinform" "--no-sysinit" "--no-userinit" "--disable-debugger" "--eval"
              (format nil "(prin1 (loop for code in '~S
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

(defmacro check-plain (&rest codes)
  "Each of CODES has the same value, or the same error, in a session and in plain SBCL."
  `(progn
     ,@(loop for code in codes
             for i from 0
             collect `(check (list ,code (in-session ,code))
                             (list ,code (elt (load-time-value (plain ,@codes)) ,i))))))

(defun without-addresses (text)
  (let ((at (search "{" text)))
    (if at
        (concatenate 'string (subseq text 0 at)
                     (without-addresses (subseq text (1+ (position #\} text :start at)))))
        text)))

;;; A report may begin as an unreadable object does.

(define-condition begins-unreadably (error) ()
  (:report (lambda (condition stream) (declare (ignore condition)) (write-string "#<A> is late" stream))))
(define-condition without-report (error) ())
(let ((codes '("(error \"~S is not ready\" (make-hash-table))"
               "(error 'simple-error :format-control \"#<A>\")"
               "(progn (define-condition unreadable (error) () (:report \"#<A> is late\")) (error 'unreadable))"
               "(make-instance 'structure-object)"
               "(aref (make-array 3) 5)")))
  (loop for code in codes
        for text in (apply #'plain codes)
        do (check (list code (without-addresses (in-session code))) (list code (without-addresses text)))))
(check (condition-text (make-condition 'begins-unreadably)) "#<A> is late")
(check (condition-text (make-condition 'without-report)) "Condition SWANK-MCP::WITHOUT-REPORT was signalled.")
(check (without-addresses
        (second (first (getf (evaluated "(warn \"~S is late\" (make-hash-table))") :warnings))))
       "#<HASH-TABLE :TEST EQL :COUNT 0 > is late")
