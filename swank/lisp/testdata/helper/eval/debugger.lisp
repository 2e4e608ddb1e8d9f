;;;; debugger.lisp -- suspended evaluations

(cl:in-package #:swank-mcp)

(defvar *token* 1000)

(defun answered (function &rest arguments)
  (with-standard-io-syntax
    (read-from-string (with-output-to-string (*standard-output*) (apply function arguments)))))

(defun debugged (code &rest arguments)
  "What EVALUATE answers when an error may leave CODE suspended as *TOKEN*."
  (apply #'evaluated code :token (incf *token*) (append arguments '(:patience 60000))))

(defun in-frame (number code &rest arguments)
  (apply #'answered #'evaluate-in-frame code *token* number :token 1 :session "test" arguments))

(defun go-on (how &rest arguments)
  (apply #'answered #'continue-suspended *token* how arguments))

(defun texts (answer)
  (mapcar #'first (getf answer :values)))

(defun error-type (answer)
  (getf (getf answer :error) :type))

(defun frames-of (answer)
  (getf (getf answer :error) :frames))

(defun restart-names (answer)
  (mapcar #'first (getf (getf answer :suspended) :restarts)))

(defun suspended-count ()
  (length (suspended-evaluations (ensure-session "test"))))

(define-test debugger-syntax
  (evaluated "(setf *read-base* 10 *print-base* 10)"))

;;; What is suspended, and what is said of it

(define-test suspended
  (let ((answer (debugged "(defun f (x) (let ((y (* x 2))) (print :in-f) (list (/ 10 y) y)))
                         (defun g (x) (let ((z (list x))) (values (f x) z)))
                         (warn \"before\") (setf *print-case* :downcase) (g 0)"
                          :debug 3)))
    (check (error-type answer) "DIVISION-BY-ZERO")
    (check (frames-of answer) '("(/ 10 0)" "(F 0)" "(G 0)"))
    (check (restart-names answer) '("RETRY" "ABORT"))
    (check (string-trim '(#\newline #\space) (first (getf answer :stdout))) ":in-f")
    (check (getf answer :warnings) '(("WARNING" "before")))
    (check (length (getf answer :journal)) 2))
  (check (suspended-count) 1)
  (check (length (getf (answered #'status "test") :suspended)) 1)
  (check (getf (answered #'status "test") :running) nil)
  ;; the session goes on, with what the suspended one has set so far
  (check (texts (evaluated "(list 1 'a)")) '("(1 a)"))
  (check (texts (evaluated "(setf *print-case* :upcase)")) '(":UPCASE"))
  ;; frames
  (let ((frame (answered #'inspect-frame *token* 1)))
    (check (getf frame :text) "(F 0)")
    (check (getf frame :locals) '(("X" "0") ("Y" "0")))
    (check (getf frame :source) "(/ 10 y)")
    (check (getf frame :restartable) t))
  (check (getf (answered #'inspect-frame *token* 0) :missing) nil) ; of the implementation's function
  (check (not (null (search "disassembly" (getf (answered #'inspect-frame *token* 1 :disassemble t) :disassembly)))) t)
  (check (error-type (answered #'inspect-frame *token* 3)) "UNKNOWN-FRAME")
  (check (texts (in-frame 1 "(setf x 5) (list x y)")) '("(5 0)"))
  (check (texts (in-frame 1 "x")) '("5"))
  ;; an error in there is reported and leaves all as it is
  (let ((answer (in-frame 1 "(print :there) (car y)")))
    (check (error-type answer) "TYPE-ERROR")
    (check (frames-of answer) '("(CAR Y)"))
    (check (getf answer :parked) t))
  (check (error-type (in-frame 1 "(error \"nested\")")) "SIMPLE-ERROR")
  (check (error-type (in-frame 1 "(foo")) "END-OF-FILE")
  (check (error-type (in-frame 9 "1")) "UNKNOWN-FRAME")
  (check (error-type (go-on :restart :name "nosuch")) "UNKNOWN-RESTART")
  (check (error-type (go-on :restart :name "7")) "UNKNOWN-RESTART")
  (check (error-type (go-on :again :frame 3)) "UNKNOWN-FRAME")
  (check (error-type (go-on :again :frame 0)) "FIXED-FRAME")
  (let ((refused (getf (go-on :return :frame 0 :code "1") :error)))
    (check (list (getf refused :type) (getf refused :frame)) '("FIXED-FRAME" 1))
    (check (not (null (search "Frames that can: 1, 2." (getf refused :message)))) t))
  (check (getf (getf (go-on :again :frame 0) :error) :frame) 1)
  (check (error-type (go-on :into)) "NOT-STEPPING")
  (check (suspended-count) 1)
  ;; fix and continue: the original's values and all of its output
  (check (texts (evaluated "(defun f (x) (list :fixed x))")) '("F"))
  (let ((answer (go-on :again :frame 2)))
    (check (texts answer) '("(:FIXED 0)" "(0)"))
    (check (getf answer :suspended) nil)
    (check (getf answer :warnings) '(("WARNING" "before")))
    (check (not (null (search "in-f" (first (getf answer :stdout))))) t))
  (check (suspended-count) 0)
  (check (go-on :abort) '(:absent :ended))
  ;; the newest value is the one that came last, and *PRINT-CASE* is the newest setting
  (check (texts (evaluated "(list * ** *print-case*)")) '("((:FIXED 0) F :UPCASE)")))

;;; The package that a suspended evaluation was in does not come back over a newer one

(define-test package-of-a-suspended-one
  (debugged "(defpackage :p1 (:use :cl)) (in-package :p1) (error \"x\")")
  (check (texts (evaluated "(package-name *package*)")) '("\"P1\""))
  (evaluated "(cl:in-package :cl-user)")
  (go-on :restart :name "abort")
  (check (texts (evaluated "(package-name *package*)")) '("\"COMMON-LISP-USER\"")))

;;; Restarts that want values

(define-test restarts
  (check (restart-names (debugged "(nosuch 3)"))
         '("CONTINUE" "USE-VALUE" "RETURN-VALUE" "RETURN-NOTHING" "RETRY" "ABORT"))
  (check (error-type (go-on :restart :name "use-value")) "VALUES-MISSING")
  (check (error-type (go-on :restart :name "use-value" :code "(error \"oops\")")) "SIMPLE-ERROR")
  (check (error-type (go-on :restart :name "use-value" :code "(lambda (x)")) "END-OF-FILE")
  (check (texts (go-on :restart :name "USE-VALUE" :code "(lambda (x) (values x (* x x)))")) '("3" "9"))
  (debugged "(+ 1 nosuch-variable)")
  (check (texts (go-on :restart :name "[store-value]" :code "41")) '("42"))
  (check (texts (evaluated "nosuch-variable")) '("41"))
  (debugged "(let ((x (list 1))) (check-type x integer) x)")
  (check (texts (go-on :restart :name "0" :code "7")) '("7"))
  (debugged "(restart-case (error \"pick\") (mine (a b) (list a b)) (nil () :nameless))")
  (check (texts (go-on :restart :name "mine" :code "1 (+ 1 1)")) '("(1 2)"))
  (debugged "(restart-case (error \"pick\") (mine () 1) (nil () :nameless))")
  (check (texts (go-on :restart :name "1")) '(":NAMELESS"))
  ;; one that returns does not leave
  (debugged "(restart-bind ((noted (lambda () (print :noted)))) (error \"x\"))")
  (check (restart-names (go-on :restart :name "noted")) '("NOTED" "RETRY" "ABORT"))
  (check (error-type (go-on :restart :name "noted" :code "1")) "PROGRAM-ERROR")
  (check (error-type (go-on :restart :name "abort")) "ABORTED")
  ;; again and again
  (debugged "(defvar *tries* 0) (if (< (incf *tries*) 3) (error \"try ~D\" *tries*) (list :at *tries*))")
  (check (getf (getf (go-on :restart :name "retry") :error) :message) "try 2")
  (check (texts (go-on :restart :name "retry")) '("(:AT 3)")))

;;; Frames: returning from them and restarting them

(define-test frames-returned-from-and-restarted
  (debugged "(defun h (x) (error \"h ~A\" x)) (defun hh (x) (multiple-value-list (h x))) (hh 3)")
  (check (error-type (go-on :return :frame 0 :code "(error \"no\")")) "SIMPLE-ERROR")
  (check (texts (go-on :return :frame 0 :code "(values x 8 9)")) '("(3 8 9)"))
  (debugged "(defgeneric gg (x)) (defmethod gg ((x integer)) (list (cerror \"go on\" \"gg\") x)) (list (gg 4))")
  (check (getf (answered #'inspect-frame *token* 0) :locals) '(("X" "4")))
  (evaluated "(defmethod gg ((x integer)) (list :new x))")
  (check (texts (go-on :again :frame 0)) '("((:NEW 4))"))
  (debugged "(defun kw (a &key (b 2) c) (list (cerror \"go on\" \"kw\") a b c)) (list (kw 1 :c 5))")
  (evaluated "(defun kw (a &key (b 2) c) (list a b c))")
  (check (texts (go-on :again :frame 0)) '("((1 2 5))"))
  (debugged "(defun lost (x) (error \"lost ~A\" x)) (lost (list 1))" :debug 0)
  (check (and (member (error-type (go-on :again :frame 0)) '("ARGUMENTS-LOST" "FIXED-FRAME" "UNKNOWN-FRAME")
                      :test #'equal)
              t)
         t)
  (go-on :abort)
  ;; a form at top level has a frame, too
  (debugged "(let ((x (list 5))) (list (cerror \"go on\" \"top\") x))" :debug 3)
  (check (getf (answered #'inspect-frame *token* 0) :locals) '(("X" "(5)")))
  (check (texts (go-on :return :frame 0 :code "(values x 7)")) '("(5)" "7")))

;;; Handlers, hooks and exits of the suspended code

(define-test handlers-hooks-and-exits
  (debugged "(handler-bind ((error (lambda (c) (print c)))) (handler-case (/ 1 0) (type-error () :caught)))")
  (check (error-type (in-frame 0 "(car 1)")) "SIMPLE-TYPE-ERROR") ; not :CAUGHT
  (check (error-type (go-on :abort)) "ABORTED")
  (debugged "(catch 'out (error \"x\"))")
  (check (texts (in-frame 0 "(throw 'out :thrown)")) '(":THROWN"))   ; the answer is the original's
  (check (suspended-count) 0)
  (debugged "(unwind-protect (error \"first\") (error \"second\"))")
  (check (getf (getf (go-on :abort) :error) :message) "second")
  (check (suspended-count) 1)
  (check (error-type (go-on :abort)) "ABORTED"))

;;; What is not suspended

(define-test not-suspended
  (flet ((not-suspended (code text)
           (let ((answer (debugged code)))
             (check (list (and (getf answer :suspended) t)
                          (and (error-type answer) t)
                          (and (search text (format nil "~{~A~}" (getf answer :notes))) t))
                    '(nil t t)))))
    (not-suspended "(labels ((r (n) (1+ (r n)))) (r 0))" "the stack")
    (not-suspended "(read-from-string \"cl::no-such-symbol\")" "all packages")
    (not-suspended "(sb-sys:without-gcing (error \"x\"))" "garbage collection")
    (not-suspended "(foo" "")
    (not-suspended "(sb-ext:exit)" ""))
  (let ((first (1+ *token*)))
    (dotimes (i 8) (debugged "(error \"many\")"))
    (let ((answer (debugged "(error \"many\")")))
      (check (list (getf answer :suspended) (and (search "8 evaluations" (first (getf answer :notes))) t))
             '(nil t)))
    ;; each is still there, by itself
    (loop for token from first repeat 8
          do (check (getf (answered #'backtrace :session "test" :suspended token) :type) "SIMPLE-ERROR"))
    (loop for *token* from first repeat 8 do (go-on :abort)))
  (check (suspended-count) 0))

;;; Steps

(define-test steps
  (let ((answer (debugged "(defun sq (x) (let ((y (* x x))) (print y) (+ y 1))) (step (sq 3))" :debug 3)))
    (check (getf (getf answer :suspended) :stepping) t)
    (check (frames-of answer) '("(STEP (SQ 3))")))
  (check (not (null (search "(* X X)" (getf (getf (go-on :into) :error) :message)))) t)
  (check (getf (answered #'inspect-frame *token* 0) :locals) '(("X" "3")))
  (check (not (null (search "(PRINT Y)" (getf (getf (go-on :next) :error) :message)))) t)
  (check (texts (in-frame 0 "(sq 5)")) '("26")) ; no steps in there
  (check (texts (go-on :out)) '("10"))
  (debugged "(progn (break) (sq 4))" :debug 3)
  (check (getf (getf (go-on :into) :suspended) :stepping) t)
  (check (texts (go-on :continue)) '("17"))
  (check (texts (evaluated "(step (sq 4))" :debug 3)) '("17"))) ; nobody to step

;;; A value that cannot be printed in time

(define-test printing-in-time
  (debugged "(defstruct endless) (defmethod print-object ((e endless) s) (loop))
           (defun ff (x) (cerror \"go on\" \"ff\") x) (list (ff (make-endless)))")
  (let ((*inspection-limit* 1/5))
    (check (getf (getf (answered #'inspect-frame *token* 0) :error) :kind) :timeout))
  (check (suspended-count) 1)
  (check (error-type (go-on :abort)) "ABORTED")
  (evaluated "(fmakunbound 'ff) (remove-method #'print-object (find-method #'print-object '() (list (find-class 'endless) t)))"))

;;; Time, and what becomes of those left alone

(define-test suspended-ones-left-alone
  (evaluated "(error \"expires\")" :token (incf *token*) :patience 100)
  (check (loop thereis (getf (evaluated "2") :departed)) ; what each evaluation tells is told once
         `((,*token* "It was suspended for too long." "ABORTED" nil)))
  (check (getf (evaluated "2") :departed) nil)
  ;; each command gives it all of its patience again: time passes here as the test has it pass
  (let ((passed 0) (waitsp nil))
    (sb-int:encapsulate 'wait-for-command 'passed
                        (lambda (function debuggee limit)
                          (declare (ignore function limit))
                          (setf waitsp t)
                          (sb-thread:wait-on-semaphore (debuggee-wake debuggee))
                          (- (shiftf passed 0))))
    (unwind-protect
         (flet ((pass (seconds)
                  "True if the evaluation waits on when it has seen that those have passed."
                  (let* ((evaluation (find-evaluation *token*)) (thread (evaluation-thread evaluation)))
                    (come-true-p (lambda () waitsp) thread)
                    (setf passed (* 1000000 seconds) waitsp nil)
                    (sb-thread:signal-semaphore (debuggee-wake (evaluation-debuggee evaluation)))
                    (come-true-p (lambda () (or waitsp (not (registeredp evaluation)))) thread)
                    waitsp)))
           (debugged "(defun held (x) (error \"held\") x) (held 1)" :patience 60000)
           (dotimes (i 4)
             (check (pass 40) t)
             (setf waitsp nil)
             (check (texts (in-frame 0 "(+ 1 1)")) '("2")))
           (check (pass 61) nil))
      (sb-int:unencapsulate 'wait-for-command 'passed))
    (check (loop thereis (getf (evaluated "2") :departed))
           `((,*token* "It was suspended for too long." "ABORTED" nil))))
  (check (getf (getf (debugged "(progn (error \"a\") 1)" :token 1) :suspended) :stepping) nil)
  (check (length (end-suspended (ensure-session "test"))) 0)
  (check (suspended-count) 0))

;;; A thread of the program takes no command before it has told that it is suspended: the command
;;; would end with what was to be told.

(defun suspend-a-thread ()
  "Have a thread wait in the debugger as one of the program's does."
  (sb-thread:make-thread
   (lambda ()
     (let ((*thread-debugging* '(60000 nil)))
       (with-simple-restart (abort "End.")
         (suspend-thread (thread-as-evaluation (ensure-session "test"))
                         (make-condition 'simple-error :format-control "x")
                         (failure "SIMPLE-ERROR" "x") '() (find-restart 'abort)))))))

(define-test command-while-a-thread-suspends
  (let ((token nil) (found '()) (thread nil))
    (sb-int:encapsulate 'deliver 'command
                        (lambda (function evaluation &rest more)
                          (setf token (evaluation-token evaluation))
                          (push (hand-over (make-client :command (constantly '())) token) found)
                          (apply function evaluation more)))
    (unwind-protect
         (progn (setf thread (suspend-a-thread))
                (check (come-true-p (lambda () (plusp (suspended-count))) thread) t))
      (sb-int:unencapsulate 'deliver 'command))
    (check found '(:running))
    (let ((*token* token))
      (check (error-type (in-frame 0 "1")) "UNKNOWN-FRAME")
      (go-on :abort))
    (check (come-true-p (lambda () (zerop (suspended-count))) thread) t)))

;;; What ends the whole evaluation while a command runs in it ends it after the command.

(define-test reset-while-a-command-runs
  (debugged "(held 1)")
  (let* ((token *token*)
         (command (sb-thread:make-thread
                   (lambda ()
                     (let ((*token* token) (*package* (find-package '#:swank-mcp)))
                       (in-frame 0 "(sleep 1000)"))))))
    (check (come-true-p (lambda ()
                          (eq :busy (debuggee-state (evaluation-debuggee (find-evaluation token)))))
                        command)
           t)
    (check (end-suspended (ensure-session "test")) '())
    (check (error-type (sb-thread:join-thread command :default nil)) "ABORTED") ; the client is told
    (check (suspended-count) 0))
  (debugged "(held 1)")
  (let* ((evaluation (find-evaluation *token*)) (ranp nil)
         (client (make-client :command (lambda (evaluation)
                                         (declare (ignore evaluation))
                                         (setf ranp t)
                                         '()))))
    (check (hand-over client *token*) :suspended)
    (interrupt-evaluation evaluation :reset) ; before the command is taken
    (sb-thread:signal-semaphore (debuggee-wake (evaluation-debuggee evaluation)))
    (check (come-true-p (lambda () (not (registeredp evaluation))) (evaluation-thread evaluation)) t)
    (check ranp nil)
    (check (error-type (client-outcome client)) "ABORTED"))
  (evaluated "(fmakunbound 'held)"))

;;; A stop is no yes of the person's.

(define-test stopped-questions
  (flet ((answer (activep)
           (let ((*answer-patience* 1/10) (question (make-question 1 "")))
             (await-answer question (make-evaluation :early-stop :stopped :activep activep))
             (question-answer question))))
    (check (answer nil) :stopped)
    (check (answer t) :silence)))

;;; The last error

(define-test last-error
  (evaluated "(defun bad (x) (list (/ x 0))) (list (bad 1))")
  (let ((last (answered #'last-error "test")))
    (check (getf last :type) "DIVISION-BY-ZERO")
    (check (getf last :frames) '("(/ 1 0)" "(BAD 1)"))
    (check (first (getf last :classes)) "DIVISION-BY-ZERO")
    (check (and (member '("SB-KERNEL::OPERATION" "/") (getf last :slots) :test #'equal) t) t))
  (check (getf (answered #'backtrace :session "test") :frames) '("(/ 1 0)" "(BAD 1)"))
  (check (getf (answered #'backtrace :session "test" :suspended 1) :absent) :ended)
  (check (answered #'last-error "nobody") nil)
  (check (answered #'backtrace :session "nobody") nil))

;;; COMPILE in the user's code learns of the warnings that are muffled

(define-test warnings-for-compile
  (flet ((compiled (form)
           (texts (evaluated (format nil "(let ((results (multiple-value-list (compile nil '~S)))) (rest results))" form)))))
    (check (compiled '(lambda () (car 1 2))) '("(T T)"))
    (check (compiled '(lambda () (let ((x 1)) 2))) '("(T NIL)"))
    (check (compiled '(lambda () (let ((x 1 2)) x))) '("(T T)"))
    (check (compiled '(lambda () 1)) '("(NIL NIL)")))
  (answered #'reset-session "test")
  (check (count-if (lambda (thread) (search "swank-mcp" (swank/backend:thread-name thread)))
                   (swank/backend:all-threads))
         0))
