;;;; hostile.lisp -- what programs and people may do that would upset an evaluation

(cl:in-package #:swank-mcp)

;;; Somebody debugs in this image.  A session does not see it, and what it sets itself
;;; is its own.

(define-test somebody-debugs
  (flet ((answer-of (function &rest arguments)
           (let ((*break-on-signals* 'error) (*debugger-hook* nil)
                 (sb-ext:*invoke-debugger-hook* (lambda (condition hook)
                                                  (declare (ignore hook))
                                                  (throw 'broken (list :broken (princ-to-string condition))))))
             (with-standard-io-syntax
               (let ((text (catch 'broken
                             (with-output-to-string (*standard-output*) (apply function arguments)))))
                 (if (stringp text) (read-from-string text) text))))))
    (check (getf (getf (answer-of #'evaluate "(error 'program-error)" :session "debugs") :error) :type)
           "PROGRAM-ERROR")
    (check (getf (answer-of #'evaluate "(list (ignore-errors (error \"x\")) (setf *break-on-signals* 'error))"
                            :session "debugs")
                 :values)
           '(("(NIL ERROR)")))
    (check (getf (getf (answer-of #'evaluate "(ignore-errors (error \"x\"))" :session "debugs") :error) :type)
           "SIMPLE-CONDITION")
    (check (getf (answer-of #'evaluate "(values (ignore-errors (error \"x\")))" :session "debugs not") :values)
           '(("NIL")))
    (check (first (answer-of #'describe-symbol "car" :session "debugs")) :title)
    (check (getf (getf (answer-of #'describe-symbol "no-such-name" :session "debugs") :error) :type)
           "SYMBOL-NOT-FOUND"))
  (check *break-on-signals* nil))

;;; A warning whose class has no name that is interned

(define-test warnings-without-a-name
  (check (getf (evaluated "(let ((name (gensym \"W\")))
                           (eval `(define-condition ,name (warning) () (:report \"odd\")))
                           (warn name) 1)")
               :values)
         '(("1"))))

;;; Values that print slowly, or leave something behind

(define-test slow-printing
  (evaluated "(defclass slow () ())
            (defmethod print-object ((slow slow) stream) (loop))
            (dotimes (i 9) (eval `(defvar ,(intern (format nil \"*SLOW-~D*\" i)) (make-instance 'slow))))"
             :package "SWANK-MCP")
  (let ((start (microseconds)) (lines (rest (assoc "variables" (answered #'list-definitions "test" "swank-mcp") :test #'equal))))
    (check (< (- (microseconds) start) 4000000) t)
    (check (list (find "SWANK-MCP::*SLOW-0*" lines :test #'search) (find "SWANK-MCP::*SLOW-8*" lines :test #'search))
           '("SWANK-MCP::*SLOW-0* = #<printing it takes too long>" "SWANK-MCP::*SLOW-8* = #<SLOW>")))
  (evaluated "(defmethod print-object ((slow slow) stream)
              (setf *package* (find-package '#:keyword))
              (write-string \"slow\" stream))"
             :package "SWANK-MCP")
  (check (let ((answer (evaluated "(list (make-instance 'slow) 'a)" :package "SWANK-MCP")))
           (list (getf answer :values) (getf answer :package)))
         '((("(slow SWANK-MCP::A)")) "COMMON-LISP-USER"))
  (evaluated "(dotimes (i 9) (makunbound (find-symbol (format nil \"*SLOW-~D*\" i))))" :package "SWANK-MCP"))

;;; The first that do not end have much, and leave little.  A longer limit of an entry's own is no
;;; longer than the half of what is left for such, or a second.

(define-test limits-of-entries
  (flet ((limit (patience allowance milliseconds)
           (let ((restoring (make-restoring :patience patience :allowance allowance)))
             (begin-entry restoring 1 milliseconds)
             (restoring-limit restoring))))
    (check (limit 300000 0 0) 150000)
    (check (limit 6000 1000000 0) 5000)
    (check (limit 6000 1000000 20) 20000)
    (check (limit 6000 6000000 20000) 3000000)
    (check (limit 0 0 2000) 1000000)
    (check (limit 0 0 2) 5000)))

;;; An entry that the image had no time for is not older, however late it is.

(define-test ages-of-entries
  (flet ((age-of (tid cpu ticks)
           "How old an entry is by looks at that thread, apart from its processor time."
           (let ((restoring (make-restoring :tid tid :cpu cpu :number 1)))
             (loop repeat ticks do (tick restoring))
             (restoring-asleep restoring))))
    (let ((tid nil) (ready (sb-thread:make-semaphore)) (done (sb-thread:make-semaphore)))
      (let ((thread (sb-thread:make-thread (lambda ()
                                             (setf tid (system-thread-number))
                                             (sb-thread:signal-semaphore ready)
                                             (sb-thread:wait-on-semaphore done)))))
        (sb-thread:wait-on-semaphore ready)
        (loop until (eql #\S (thread-state tid)) do (sleep 0.001))
        (check (age-of tid 0 20) 20000)
        (check (age-of (system-thread-number) 0 20) 0) ; its own thread runs whenever it looks
        (sb-thread:signal-semaphore done)
        (sb-thread:join-thread thread)))))

;;; A warning that is only signalled cannot be muffled.

(define-test signalled-warnings
  (check (restore-entry (make-restoring :evaluation (make-evaluation :session (ensure-session "test"))) 1
                        "(defvar signalled (list (signal 'warning) (signal 'style-warning)))"
                        "SWANK-MCP" 0)
         :done)
  (check (symbol-value 'signalled) '(nil nil))
  (evaluated "(defmethod print-object ((slow slow) stream) (signal 'warning) (write-string \"signals\" stream))
            (defvar signals (make-instance 'slow))"
             :package "SWANK-MCP")
  (check (second (first (getf (answered #'describe-symbol "swank-mcp::signals") :sections))) "Value: signals"))

;;; Scripts disable the debugger: the image is to end at the first error.

(define-test debugger-disabled
  (check (error-type (evaluated "(sb-ext:disable-debugger) (car 1)")) "TYPE-ERROR")
  (let ((answer (evaluated "(progn (sb-ext:disable-debugger) (car 1))")))
    (check (error-type answer) "EXIT-REFUSED")
    (check (not (search "DISABLE-DEBUGGER" (getf (getf answer :error) :message))) nil)
    (check (not (search "not of type" (first (getf answer :stderr)))) nil))
  (check (error-type (evaluated "(car 1)")) "TYPE-ERROR"))

;;; Errors in telling errors

(define-test errors-in-telling-errors
  (check (let ((error (getf (evaluated "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (error \"in the hook\"))))
                                        (error \"x\"))")
                            :error)))
           (list (getf error :type) (getf error :message)))
         '("SIMPLE-ERROR" "in the hook"))
  (check (error-type (evaluated "(let ((*debugger-hook* 'no-such-hook)) (error \"x\"))")) "UNDEFINED-FUNCTION")
  ;; one that asks the debugger, and one that chooses a restart
  (check (error-type (evaluated "(let ((*debugger-hook* (lambda (c h) (declare (ignore h)) (invoke-debugger c)))) (error \"x\"))"))
         "SIMPLE-ERROR")
  (check (getf (evaluated "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (continue)))) (list (cerror \"on\" \"x\") 1))")
               :values)
         '(("(NIL 1)")))
  ;; where only the type's name fails, the rest is told
  (let* ((method (eval '(defmethod class-name :around ((class sb-pcl::condition-class)) (error "broken"))))
         (error (getf (evaluated "(error \"x\")") :error)))
    (remove-method #'class-name method)
    (check (list (getf error :type) (getf error :message) (getf error :frames))
           '("SIMPLE-ERROR" "x" ("(ERROR \"x\")"))))
  (flet ((broken (function code)
           "What CODE answers while FUNCTION, of the helper, comes upon an error."
           (sb-int:encapsulate function 'broken (lambda (&rest ignore) (declare (ignore ignore)) (error "broken")))
           (unwind-protect (evaluated code)
             (sb-int:unencapsulate function 'broken))))
    (check (getf (getf (broken 'condition-text "(error \"x\")") :error) :message)
           "The error cannot be told: another one, SIMPLE-ERROR, was signalled in making its report. A method of the program's that the report calls, PRINT-OBJECT for one, may do that.")
    (check (error-type (broken 'line-and-column "(list 1")) "END-OF-FILE")
    ;; what comes after the evaluation
    (let ((answer (broken 'undefined-since "(print 1)")))
      (check (list (getf answer :values) (getf answer :stdout)) (list '(("1")) (list (format nil "~%1 "))))
      (check (search "What it has defined cannot be told: SIMPLE-ERROR" (first (getf answer :notes))) 0))))

;;; Values with something in them that cannot be printed

(define-test unprintable-values
  (evaluated "(defclass unprintable () ())
            (defmethod print-object ((object unprintable) stream)
              (write-string \"half of it\" stream)
              (error 'type-error :datum 1 :expected-type 'cons))
            (defstruct holder a b)
            (defclass opened () ((a :initarg :a :accessor opened-a)))
            (defmethod print-object ((object opened) stream)
              (print-unreadable-object (object stream :type t) (prin1 (opened-a object) stream)))"
             :package "SWANK-MCP")
  (flet ((shown (code) (first (first (getf (evaluated code :package "SWANK-MCP") :values)))))
    (let ((told "#<SWANK-MCP::UNPRINTABLE, printing it failed: TYPE-ERROR: The value 1 is not of type CONS>"))
      (check (shown "(make-instance 'unprintable)") told)
      (check (shown "(list 1 (make-instance 'unprintable) \"a\")") (format nil "(1~% ~A~% \"a\")" told))
      (check (shown "(vector (make-instance 'opened :a (list (make-instance 'unprintable))))")
             (format nil "#(#<OPENED (~A)>)" told))
      (check (shown "(make-holder :a (make-instance 'unprintable) :b '(1 2))")
             (format nil "#S(HOLDER~%   :A ~A~%   :B (1 2))" told))
      ;; circular, and the same object twice
      (check (shown "(let* ((one (make-instance 'unprintable)) (list (list one one))) (setf (cddr list) list))")
             (format nil "#1=(#2=~A~%    #2# . #1#)" told))
      (check (shown "(list (make-instance 'unprintable) (make-instance 'unprintable) (make-instance 'unprintable))")
             (format nil "(~A~% ~:*~A~% ~:*~A)" told))))
  ;; the session's dispatch table is as it was
  (check (getf (evaluated "(nth-value 1 (pprint-dispatch (make-condition 'error)))") :values) '(("NIL"))))
