;;;; hostile-test.lisp -- what programs and people may do that would upset the
;;;; helper; loaded by helper-test.lisp

(cl:in-package #:swank-mcp)

;;; Status is asked for while the session defines.

(let* ((session (ensure-session "busy"))
       (definer (sb-thread:make-thread
                 (lambda ()
                   (handler-case (dotimes (i 30000 :done)
                                   (enter-definition session (cons :variable (make-symbol (format nil "~D" i)))))
                     (error (condition) (princ-to-string condition)))))))
  (check (handler-case (loop while (sb-thread:thread-alive-p definer)
                             do (own-definitions session)
                             finally (return :done))
           (error (condition) (princ-to-string condition)))
         :done)
  (check (sb-thread:join-thread definer) :done)
  (clrhash (session-definitions session))

  ;; a definition that has been noted and is not made yet is entered when it is made
  (let ((evaluation (make-evaluation :token 1 :session session))
        (form (list 'defun 'made-soon '() '(list 1))))
    (note-candidate session '(:function . made-soon) form nil nil)
    (settle evaluation)
    (check (own-definitions session) '())
    (check (evaluation-journal evaluation) '())
    (eval form)
    (settle evaluation)
    (check (own-definitions session) '((:function . made-soon)))
    (check (second (first (evaluation-journal evaluation))) "(DEFUN MADE-SOON () (LIST 1))")
    (fmakunbound 'made-soon)
    (check (own-definitions session) '())
    (check (hash-table-count (session-definitions session)) 0)))

;;; Code with circular literals

(check (mapcar #'second
               (getf (evaluated "(progn (defun before () 1) (defparameter *circle* '#1=(1 (2 . #1#) . #1#)))
                                 (fmakunbound 'before) (makunbound '*circle*)"
                                :package "SWANK-MCP")
                     :journal))
       '("(DEFUN BEFORE () 1)"
         "(DEFPARAMETER *CIRCLE* '#1=(1 (2 . #1#) . #1#))"))

;;; The form of an EQL specializer is not evaluated again.

(evaluated "(defvar *evaluated* 0) (defgeneric specialized (x))
            (defmethod specialized ((x (eql (incf *evaluated*)))) 1)
            (defmethod specialized ((x (eql ':key))) 2)
            (defmethod specialized :around ((x integer)) (call-next-method))"
           :package "SWANK-MCP")
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
(check (symbol-value '*evaluated*) 1)
(check (find-defined-method '(specialized () ((eql ':other)))) nil)
(check (find-defined-method '(specialized () (integer))) nil)
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 3)
(undefine :method '(specialized () ((eql ':key))))
(check (count :method (own-definitions (ensure-session "test")) :key #'car) 2)
(fmakunbound 'specialized)
(makunbound '*evaluated*)

;;; Somebody debugs in this image.  A session does not see it, and what it sets itself
;;; is its own.

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
(check *break-on-signals* nil)

;;; A warning whose class has no name that is interned

(check (getf (evaluated "(let ((name (gensym \"W\")))
                           (eval `(define-condition ,name (warning) () (:report \"odd\")))
                           (warn name) 1)")
             :values)
       '(("1")))

;;; Slots that cannot be read

(evaluated "(defclass odd-class (standard-class) ())
            (defmethod sb-mop:validate-superclass ((class odd-class) (super standard-class)) t)
            (defclass odd () ((a :initform 1) (b :initform 2) (c)) (:metaclass odd-class))
            (defmethod sb-mop:slot-value-using-class ((class odd-class) odd slot)
              (if (eq 'b (sb-mop:slot-definition-name slot)) (error \"not ~A\" 'b) (call-next-method)))"
           :package "SWANK-MCP")
(check (mapcar (lambda (part) (part-line part 0)) (instance-slots (make-instance 'odd)))
       '("0 A: 1" "0 B: reading it failed: SIMPLE-ERROR: not B" "0 C: unbound"))

;;; Values that print slowly, or leave something behind

(evaluated "(defclass slow () ())
            (defmethod print-object ((slow slow) stream) (loop))
            (dotimes (i 9) (eval `(defvar ,(intern (format nil \"*SLOW-~D*\" i)) (make-instance 'slow))))"
           :package "SWANK-MCP")
(let ((start (microseconds)) (lines (rest (assoc :variables (answered #'list-definitions "test" "swank-mcp")))))
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
(evaluated "(dotimes (i 9) (makunbound (find-symbol (format nil \"*SLOW-~D*\" i))))" :package "SWANK-MCP")

;;; Threads whose printer is set up oddly

(defun sleep-oddly ()
  (let ((*print-base* 2) (*print-radix* t) (*print-case* :downcase) (*print-readably* t))
    (sleep 3600)))
(let ((thread (sb-thread:make-thread #'sleep-oddly :name "odd printer")))
  (sleep 0.1)
  (let ((frames (frames-of-thread thread 5)))
    (check (consp frames) t)
    (check (equal frames (mapcar #'string-upcase frames)) t))
  (end-thread thread))

;;; A warning that is only signalled cannot be muffled.

(check (restore-entry (make-restoring :evaluation (make-evaluation :session (ensure-session "test"))) 1
                      "(defvar signalled (list (signal 'warning) (signal 'style-warning)))"
                      "SWANK-MCP" 0)
       :done)
(check (symbol-value 'signalled) '(nil nil))
(evaluated "(defmethod print-object ((slow slow) stream) (signal 'warning) (write-string \"signals\" stream))
            (defvar signals (make-instance 'slow))"
           :package "SWANK-MCP")
(check (second (first (getf (answered #'describe-symbol "swank-mcp::signals") :sections))) "Value: signals")

;;; Whose is a package that MAKE-PACKAGE made while we evaluated?

(check (mapcar (lambda (code) (named-in-p "A" code))
               '("(make-package :a)" "(make-package \"A\")" "(make-package '#:a)" "(list 'b-a)" "(lambda (x) x)" "a" ""))
       '(t t t nil nil t nil))

;;; Keys of definitions tell any two apart.

(flet ((key (form) (key-text (ensure-session "test") (defined-by form))))
  (check (string= (key '(defmethod m ((x (eql '((a))))) 1)) (key '(defmethod m ((x (eql '((b))))) 1))) nil))

;;; Two sessions run tests at a time.

(defun fake-result (name) name)
(let* ((run (make-test-run)) (began (sb-thread:make-semaphore)) (go-on (sb-thread:make-semaphore))
       (framework (make-framework
                   :label "Fake" :package "SWANK-MCP" :function '("SWANK-MCP" "FAKE-RESULT")
                   :recorder (lambda (run arguments value)
                               (declare (ignore arguments))
                               (run-record run "Fake" value :passed nil nil nil))))
       (thread (sb-thread:make-thread
                (lambda ()
                  (let ((*frameworks* (list framework)))
                    (call-recording-results run (lambda ()
                                                  (sb-thread:signal-semaphore began)
                                                  (sb-thread:wait-on-semaphore go-on)
                                                  (fake-result "theirs"))))))))
  (sb-thread:wait-on-semaphore began)
  (let ((ours (make-test-run)) (*frameworks* (list framework)))
    (call-recording-results ours (lambda () (fake-result "ours")))
    (check (test-run-passed ours) 1))
  (sb-thread:signal-semaphore go-on)
  (sb-thread:join-thread thread)
  (check (test-run-passed run) 1)
  (check (sb-impl::encapsulation-info (symbol-function 'fake-result)) nil))

;;; A path with nothing between two dots

(check (handler-case (walk-path (list 1 (list 2)) "1..0")
         (lookup-failure (failure) (failure-type failure)))
       "NO-SUCH-PART")
(let ((table (make-hash-table :test 'equal)))
  (setf (gethash "" table) (list :found))
  (check (walk-path (list table) "0..0") :found))

;;; Scripts disable the debugger: the image is to end at the first error.

(check (error-type (evaluated "(sb-ext:disable-debugger) (car 1)")) "TYPE-ERROR")
(let ((answer (evaluated "(progn (sb-ext:disable-debugger) (car 1))")))
  (check (error-type answer) "EXIT-REFUSED")
  (check (not (search "DISABLE-DEBUGGER" (getf (getf answer :error) :message))) nil)
  (check (not (search "not of type" (first (getf answer :stderr)))) nil))
(check (error-type (evaluated "(car 1)")) "TYPE-ERROR")

;;; Methods that end the image when a value is looked at

(evaluated "(defclass quits () ((a :initform 1)))
            (defmethod print-object ((quits quits) stream)
              (unwind-protect (sb-ext:exit :code 3 :timeout 1) (write-string \"never seen\" stream)))
            (defvar *quits* (make-instance 'quits))
            (defclass quitting-class (standard-class) ())
            (defmethod sb-mop:validate-superclass ((class quitting-class) (super standard-class)) t)
            (defclass quits-when-read () ((a :initform 1)) (:metaclass quitting-class))
            (defmethod sb-mop:slot-value-using-class ((class quitting-class) object slot) (sb-ext:exit :code 3))
            (defvar *quits-when-read* (make-instance 'quits-when-read))
            (defclass ends () ())
            (defmethod print-object ((ends ends) stream) (sb-thread:abort-thread))
            (defvar *ends* (make-instance 'ends))"
           :package "SWANK-MCP")
(flet ((look ()
         (let ((refused "#<printing it failed: it asked the Lisp image to end>")
               (timeout sb-ext:*exit-timeout*))
           (check (second (first (getf (answered #'describe-symbol "swank-mcp::*quits*") :sections)))
                  (format nil "Value: ~A" refused))
           (check (second (first (getf (answered #'describe-symbol "swank-mcp::*ends*") :sections)))
                  "Value: #<printing it failed: it asked its thread to end>")
           (check (find (format nil "SWANK-MCP::*QUITS* = ~A" refused)
                        (rest (assoc :variables (answered #'list-definitions "test")))
                        :test #'string=)
                  (format nil "SWANK-MCP::*QUITS* = ~A" refused))
           (check (getf (evaluated "(list 1 *quits*)" :package "SWANK-MCP") :values)
                  '(("(1 #<SWANK-MCP::QUITS, printing it failed: it asked the Lisp image to end>)")))
           (let ((handle (remember-object (symbol-value '*quits-when-read*) (ensure-session "test") "")))
             (check (getf (getf (answered #'inspect-handle (handle-text handle) "") :error) :type)
                    "EXIT-REFUSED")
             (check (error-type (evaluated (format nil "(object ~D \"a\")" handle) :package "SWANK-MCP"))
                    "EXIT-REFUSED"))
           (check (list sb-sys:*exit-in-progress* (sb-thread:mutex-owner sb-impl::*exit-lock*)
                        sb-ext:*exit-timeout*)
                  (list nil nil timeout)))))
  (sb-thread:join-thread (sb-thread:make-thread #'look)))
(dolist (name '(*quits* *quits-when-read* *ends*)) (makunbound name))

;;; Errors in telling errors

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
  (let ((answer (broken 'undone-since "(print 1)")))
    (check (list (getf answer :values) (getf answer :stdout)) (list '(("1")) (list (format nil "~%1 "))))
    (check (search "What it has defined cannot be told: SIMPLE-ERROR" (first (getf answer :notes))) 0)))

;;; Values with something in them that cannot be printed

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
(check (getf (evaluated "(nth-value 1 (pprint-dispatch (make-condition 'error)))") :values) '(("NIL")))
