;;;; debugger.lisp -- what can be done about a suspended evaluation

(cl:in-package #:swank-mcp)

;;; Code that the bridge runs in the thread of a suspended evaluation.  It can be stopped without
;;; ending that evaluation.

(defun call-nested (suspended function)
  "The value of FUNCTION and NIL; or NIL and a report of what stopped it.  An unhandled error
ends FUNCTION and leaves SUSPENDED where it is."
  (let ((nested (make-evaluation :token 0 :session (evaluation-session suspended) :code "")))
    (flet ((end-with (report)
             (return-from call-nested (values nil report))))
      (setf (evaluation-escape nested) #'end-with
            (evaluation-nested suspended) nested)
      (values (call-stoppably
               nested
               (lambda ()
                 (call-with-debugger-hooks
                  (lambda ()
                    (restart-case (funcall function)
                      (abort ()
                        :report "Go back to the suspended evaluation."
                        (end-with (failure "ABORTED" "It invoked the ABORT restart.")))))
                  (lambda (condition)
                    (end-with (condition-report condition (evaluation-form nested)))))))
              nil))))

(defun nested-values (suspended code function &optional frame)
  "(VALUES (FUNCTION FORM) of each form of CODE, as lists, and NIL), or NIL and a report.
CODE is read in the package of FRAME's code, or else in the session's."
  (let ((session (evaluation-session suspended)))
    (call-nested suspended
                 (lambda ()
                   (let ((results '()))
                     (call-in-session
                      session (or (and frame (frame-package frame)) (live-package session))
                      (lambda ()
                        (let ((in (make-string-input-stream code)))
                          (loop for form = (read-form in)
                                until (eq form in)
                                do (setf (evaluation-form (evaluation-nested suspended)) form)
                                   (push (multiple-value-list (funcall function form)) results)))))
                     (nreverse results))))))

;;; Restarts

(defun find-restart-named (suspended name)
  "The restart that NAME designates, by number or name; of several, the innermost."
  (let* ((restarts (debuggee-restarts (evaluation-debuggee suspended)))
         (name (string-trim "[]: #'" name))
         (name (subseq name (let ((colon (position #\: name :from-end t)))
                              (if colon (1+ colon) 0)))))
    (if (and (plusp (length name)) (every #'digit-char-p name))
        (nth (parse-integer name) restarts)
        (find name restarts :key #'restart-name :test #'string-equal))))

(defun restarts-text (suspended)
  (format nil "~{~{~D~@[ [~A]~]~}~^, ~}"
          (loop for restart in (debuggee-restarts (evaluation-debuggee suspended))
                for number from 0
                for name = (restart-name restart)
                collect (list number (and name (symbol-name name))))))

(defun leave-by-restart (restart arguments)
  "Invoke RESTART; if it returns here, :AGAIN."
  (handler-case (progn (apply #'invoke-restart restart arguments)
                       :again)
    (error (condition)
      (refusal (type-label condition) "~A" (condition-text condition)))))

(defun restart-suspended (suspended name code)
  (let ((restart (find-restart-named suspended name)))
    (cond ((null restart)
           (refusal "UNKNOWN-RESTART" "There is no restart ~A here. Valid: ~A."
                    name (restarts-text suspended)))
          ((and (null code) (wants-values-p restart))
           (refusal "VALUES-MISSING" "Restart ~A (~A) wants values: Lisp forms, one for each value."
                    name (clip (safely (princ-to-string restart)) 200)))
          (t (multiple-value-bind (results report)
                 (if code (nested-values suspended code #'evaluate-form) (values '() nil))
               (if report
                   (list :error (for-wire report))
                   (leave-by-restart restart (mapcar #'first results))))))))

(defun step-suspended (suspended mode)
  "MODE is :INTO, :NEXT, :OUT or :CONTINUE."
  (flet ((named (name)
           (find name (debuggee-restarts (evaluation-debuggee suspended)) :key #'restart-name)))
    (when (thread-of-program-p suspended)
      (return-from step-suspended
        (refusal "NOT-STEPPING" "A thread of the program goes on by a restart, not by steps. Valid restarts: ~A."
                 (restarts-text suspended))))
    (let ((step (named (ecase mode
                         (:into 'sb-ext:step-into) (:next 'sb-ext:step-next)
                         (:out 'sb-ext:step-out) (:continue 'sb-ext:step-continue))))
          (continue (named 'continue)))
      (cond ((and (eq mode :out) (or step continue) (null sbcl:*step-out*))
             ;; SBCL would signal an error of its own and end stepping
             (refusal "NOT-STEPPED-IN" "step out leaves a function that a step has gone into, and none has here. ~
                                        Valid: next, into, continue."))
            (step
              (when (eq mode :into) (note-step-over suspended))
              (leave-by-restart step '()))
            ((and continue (not (stepping-p (evaluation-debuggee suspended))))
             (unless (eq mode :continue) (sbcl:enable-stepping))
             (leave-by-restart continue '()))
            (t (refusal "NOT-STEPPING" "It waits at an error from which no step leads on. Valid restarts: ~A."
                        (restarts-text suspended)))))))

;;; A step into a function that was compiled without stepping goes over it silently.

(defun method-function-of (method)
  "The function that has the code of METHOD."
  (let ((function (sb-mop:method-function method)))
    (or (and (typep function 'sbcl:%method-function)
             (sbcl:%method-function-fast-function function))
        function)))

(defun steppable-p (function)
  "True if stepping can stop in the code of FUNCTION."
  (typecase function
    (generic-function
     (some (lambda (method) (steppable-p (method-function-of method)))
           (sb-mop:generic-function-methods function)))
    (function (code-with-steps-p (sbcl:fun-debug-fun (sbcl:%fun-fun function))))))

(defun stepped-function (suspended)
  "The program's function that the next step of SUSPENDED calls, and its name; or NIL."
  (let* ((debuggee (evaluation-debuggee suspended))
         (form (princ-to-string (sb-ext:step-condition-form (debuggee-condition debuggee))))
         (end (position-if (lambda (char) (find char " )")) form))
         (frame (first (debuggee-frames debuggee))))
    (when (and end (> end 1) (char= #\( (char form 0)))
      (dolist (package (list (and frame (frame-package frame))
                             (live-package (evaluation-session suspended))))
        (multiple-value-bind (symbol foundp)
            (and package (swank::parse-symbol (subseq form 1 end) package))
          (when (and foundp (fboundp symbol) (program-package-p (symbol-package symbol)))
            (return (values (fdefinition symbol) symbol))))))))

(defun note-step-over (suspended)
  "Have the reply say so if a step into the function that SUSPENDED calls cannot stop there."
  (ignore-errors
   (multiple-value-bind (function name) (stepped-function suspended)
     (when (and function
                (not (steppable-p function))
                ;; accessors of structures make no calls
                (atom (sbcl:info :function :source-transform name)))
       (let ((file (function-file (if (typep function 'generic-function)
                                      (method-function-of
                                       (first (sb-mop:generic-function-methods function)))
                                      function)))
             (name (spelling name)))
         (push (format nil "The step did not stop in ~A: nothing in it can be stepped through as it is compiled. ~
                            With DEBUG 3 its calls can: ~A"
                       name (compiling-for-steps file))
               (evaluation-remarks suspended)))))))

(defun compiling-for-steps (file)
  "The call of a tool that compiles the code of FILE, or of an evaluation if that is NIL, so that it
can be stepped through."
  (let ((system (and file (system-of-file file))))
    (cond ((and system (not (foreign-system file)))
           (format nil "load-system {\"system\": ~S, \"debug\": 3}" system))
          (file (format nil "compile-file {\"path\": ~S, \"debug\": 3}" file))
          (t "evaluate-lisp with its definition and \"debug\": 3"))))

;;; Frames

(defun refusal-of-frame (suspended type usable-p control &rest arguments)
  "A refusal of a frame that names the frames of SUSPENDED for which USABLE-P is true."
  (let* ((others (loop for frame in (debuggee-frames (evaluation-debuggee suspended))
                       for other from 0
                       when (ignore-errors (funcall usable-p frame)) collect other))
         (report (second (refusal type "~?~:[ No other frame can.~; Frames that can: ~:*~{~D~^, ~}.~]"
                                  control arguments others))))
    (list :error (if others
                     (list* :frame (first others) report)
                     report))))

(defun fixed-frame (suspended number usable-p)
  "A refusal: frame NUMBER can be neither returned from nor restarted."
  (refusal-of-frame suspended "FIXED-FRAME" usable-p
                    "Frame ~D cannot be returned from or restarted: it is a function of the implementation, or ~
                     was compiled with DEBUG 0." number))

(defun wrong-values (frame name type)
  "A refusal: the code that calls FRAME's function is compiled for other values."
  (let ((package (or (frame-package frame) *package*)))
    (refusal "WRONG-VALUES" "~A is declared to return ~A, and its callers are compiled to rely on that. ~
                             Valid: as many values, of these types, as in (values 1 2)."
             (show-form name package) (show-form type package))))

(defun return-from-suspended (suspended number code)
  (call-with-frame
   suspended number
   (lambda (frame)
     (if (returnable-p frame)
         (multiple-value-bind (results report)
             (nested-values suspended code (lambda (form) (evaluate-form form frame)) frame)
           (let ((values (first (last results))))
             (multiple-value-bind (type name) (declared-values frame)
               (cond (report (list :error (for-wire report)))
                     ((values-of-type-p values type)
                      (sbcl:unwind-to-frame-and-call frame (lambda () (values-list values))))
                     (t (wrong-values frame name type))))))
         (fixed-frame suspended number #'returnable-p)))))

(defun raw-arguments (frame)
  (let ((arguments (fdefinition 'sbcl:frame-args-as-list)))
    ;; newer versions want a limit
    (if (rest (sbcl:%fun-lambda-list arguments))
        (funcall arguments frame most-positive-fixnum)
        (funcall arguments frame))))

(defun frame-function-and-arguments (frame)
  "(VALUES FUNCTION ARGUMENTS) to call FRAME again, with FUNCTION as it is defined now."
  (multiple-value-bind (name arguments) (sbcl:frame-call frame)
    (multiple-value-bind (function given dispatchedp) (dispatched-call frame name)
      (when dispatchedp (setf name function arguments given)))
    (when (and (consp name)
               (member (first name) '(:method sbcl:fast-method sbcl:slow-method)))
      (setf name (second name)))        ; the generic function
    (if (and (sbcl:legal-fun-name-p name) (fboundp name))
        (values (fdefinition name) arguments)
        (values (sbcl:debug-fun-fun (sbcl:frame-debug-fun frame))
                (raw-arguments frame)))))

(defun all-available-p (arguments)
  (and (listp arguments)
       (notany (lambda (argument) (typep argument 'sbcl:unprintable-object)) arguments)))

(defun restartable-p (frame)
  (and (returnable-p frame)
       (multiple-value-bind (function arguments) (frame-function-and-arguments frame)
         (and (functionp function) (all-available-p arguments)))))

(defun restart-frame-of-suspended (suspended number)
  (call-with-frame
   suspended number
   (lambda (frame)
     (multiple-value-bind (function arguments) (frame-function-and-arguments frame)
       (cond ((not (and (returnable-p frame) (functionp function)))
              (fixed-frame suspended number #'restartable-p))
             ((not (all-available-p arguments))
              (refusal-of-frame suspended "ARGUMENTS-LOST" #'restartable-p
                                "Frame ~D does not have all its arguments any more, so it cannot be called ~
                                 again with them. Code compiled with DEBUG 3 keeps them." number))
             (t (sbcl:unwind-to-frame-and-call
                 frame
                 (lambda ()
                   (declare (optimize (debug 0))) ; a tail call
                   (apply function arguments)))))))))

(defun with-variables-noted (outcome session number frame)
  "OUTCOME; if it is the error UNBOUND-VARIABLE, with a note of the frame's variables."
  (when (equal "UNBOUND-VARIABLE" (getf (getf outcome :error) :type))
    (multiple-value-bind (with without) (frame-variables frame)
      (call-with-frame-printing
       (or (frame-package frame) (live-package session))
       (lambda ()
         (push (format nil "Variables of frame ~D: ~:[none~;~:*~{~S~^, ~}~].~@[ Without a value there: ~{~S~^, ~}; ~
                            code compiled with DEBUG 3 keeps all.~]"
                       number (mapcar #'car with) without)
               (getf outcome :notes))))))
  outcome)

;;; What the bridge calls

(defun evaluate-in-frame (code suspended number &key (session "default") (token 0) package)
  "EVALUATE in the user frame NUMBER of the SUSPENDED evaluation, a token.  CODE sees the frame's
variables and may assign them.  Without PACKAGE it is read in that of the frame's code."
  (let* ((session (ensure-session session))
         (caller (caller session)))
    (answer
     (command suspended
              (lambda (suspended)
                (call-with-frame
                 suspended number
                 (lambda (frame)
                   (with-variables-noted
                    (registered-outcome
                     (make-evaluation :token token :session session :code code :frame frame
                                      :caller caller)
                     (or package
                         (let ((own (frame-package frame))) (and own (package-name own))))
                     1)
                    session number frame))))))))

(defun abort-suspended (suspended)
  (funcall (evaluation-escape suspended) (failure "ABORTED" "The evaluation was aborted.")))

(defun call-awaiting-end (token function)
  "Call FUNCTION, which aborts the evaluation TOKEN.  A thread of the program, see
THREAD-AS-EVALUATION, runs its cleanup forms after it has told that it was aborted: give it a second."
  (let ((suspended (and (minusp token) (find-evaluation token))))
    (prog1 (funcall function)
      (when suspended
        (sb-thread:join-thread (evaluation-thread suspended) :default nil :timeout 1)))))

(defun continue-suspended (suspended how &key name code (frame 0))
  "Let the SUSPENDED evaluation, a token, go on.  HOW is :RESTART (invoke NAME with the values of
CODE's forms), :RETURN (from FRAME, with the values of CODE's last form), :AGAIN (call FRAME
again), :ABORT, or, for a step, :INTO, :NEXT, :OUT or :CONTINUE.  The answer is EVALUATE's, with
:SUSPENDED if it is suspended again, and with :PARKED if it did not go on, as :ERROR explains."
  (flet ((go-on ()
           (command suspended
                    (lambda (suspended)
                      (ecase how
                        (:restart (restart-suspended suspended name code))
                        (:return (return-from-suspended suspended frame code))
                        (:again (restart-frame-of-suspended suspended frame))
                        (:abort (abort-suspended suspended))
                        ((:into :next :out :continue) (step-suspended suspended how)))))))
    (answer (if (eq how :abort) (call-awaiting-end suspended #'go-on) (go-on)))))
