;;;; tests.lisp -- RUN-TESTS: tests of a framework that is known, or what ASDF's TEST-OP runs

(cl:in-package #:swank-mcp)

;;; Watching

(defun suspending-variables ()
  "((VARIABLE . VALUE) ...) with which the frameworks leave unexpected errors to the debugger."
  (loop for (package name value) in '(("FIVEAM" "*ON-ERROR*" :debug)
                                      ("ROVE" "*DEBUG-ON-ERROR*" t)
                                      ("PROVE.TEST" "*DEBUG-ON-ERROR*" t))
        for symbol = (named-symbol package name)
        when (and symbol (boundp symbol)) collect (cons symbol value)))

(defun call-recording-results (run function &optional suspendp)
  "Call FUNCTION; put the results of tests that run on this thread into RUN.  If SUSPENDP is true,
unexpected errors are for the debugger."
  (let* ((thread (swank/backend:current-thread))
         (frameworks (remove-if-not #'framework-loaded-p *frameworks*))
         (tag (make-symbol "SWANK-MCP")) ; another session may run tests as well
         (encapsulated '())
         (suspending (and suspendp (suspending-variables)))
         (quiet (loop for framework in frameworks
                      for names = (framework-quiet framework)
                      for symbol = (and names (apply #'named-symbol names))
                      when (and symbol (boundp symbol)) collect symbol)))
    (unwind-protect
         (progn
           #+sbcl
           (dolist (framework frameworks)
             (let ((symbol (apply #'named-symbol (framework-function framework)))
                   (recorder (framework-recorder framework)))
               (sbcl:encapsulate
                symbol tag
                (lambda (function &rest arguments)
                  (let ((values '()) (returnedp nil))
                    (unwind-protect
                         (setf values (multiple-value-list (apply function arguments))
                               returnedp t)
                      (when (eq thread (swank/backend:current-thread))
                        (let ((*returnedp* returnedp))
                          (ignore-errors (funcall recorder run arguments (first values))))))
                    (values-list values))))
               (push symbol encapsulated)
               (when (framework-whole framework)
                 (let ((whole (apply #'named-symbol (framework-whole framework)))
                       (around (framework-around framework)))
                   (sbcl:encapsulate
                    whole tag
                    (lambda (function &rest arguments)
                      (if (eq thread (swank/backend:current-thread))
                          (funcall around run (lambda () (apply function arguments)) arguments)
                          (apply function arguments))))
                   (push whole encapsulated)))))
           (progv (append quiet (mapcar #'car suspending))
               (append (mapcar (lambda (symbol) (declare (ignore symbol)) (make-broadcast-stream))
                               quiet)
                       (mapcar #'cdr suspending))
             (let ((*test-run* run) (*break-on-signals* '(satisfies note-signalled))
                   #+sbcl (*outer-frame-p* #'framework-frame-p)
                   #+sbcl (*report-only-p* (lambda () (only-told-p run))))
               (funcall function))))
      #+sbcl
      (dolist (symbol encapsulated) (sbcl:unencapsulate symbol tag)))))

;;; Finding tests

(defun known-tests ()
  "((NAME PACKAGE DESIGNATOR FRAMEWORK) ...)"
  ;; newer FiveAMs list a test once for each definition
  (remove-duplicates
   (loop for framework in *frameworks*
         when (framework-loaded-p framework)
           append (loop for test in (ignore-errors (funcall (framework-tests framework)))
                        collect (append test (list framework))))
   :test #'equal))

(defun test-spelling (test)
  (destructuring-bind (name package designator framework) test
    (declare (ignore framework))
    (if (symbolp designator) (spelling designator) (format nil "~A::~A" package name))))

(defun find-test-named (text)
  "The test that TEXT names, in any package; refuse if there is none or more than one."
  (multiple-value-bind (name package)
      (handler-case (parse-name text (readtable-case *readtable*))
        (lookup-failure (failure) (refuse (failure-type failure) (failure-message failure))))
    (let* ((tests (known-tests))
           (home (and package (find-package-named package)))
           (found (remove-if-not (lambda (test)
                                   (and (string-equal (first test) name)
                                        (or (null package)
                                            (and home (string= (second test) (package-name home))))))
                                 tests))
           (here (remove (package-name *package*) found :key #'second :test-not #'string=)))
      (cond ((null (rest found))
             (or (first found)
                 (refuse-unknown-test text name tests)))
            ((and here (null (rest here))) (first here))
            (t (refuse "AMBIGUOUS-TEST"
                       (format nil "~A names more than one test: ~{~A~^, ~}." text
                               (mapcar #'test-spelling found))
                       (list :instead (list text (test-spelling (first found))))))))))

(defun refuse-unknown-test (text name tests)
  (flet ((distance (test) (edit-distance (string-upcase (first test)) (string-upcase name))))
    (let ((near (sort (copy-list tests) #'< :key #'distance)))
      (refuse "TEST-NOT-FOUND"
              (format nil "There is no test ~A. ~:[~2*No test of ~A is loaded; ~
                           load the system that defines it (argument system).~;Known (~D): ~{~A~^, ~}.~]"
                      text tests (length tests) (mapcar #'test-spelling (first-few near 10))
                      (framework-labels))
              (and near
                   (meant-p name (first (first near)))
                   (list :instead (list text (test-spelling (first near)))))))))

;;; Running tests

(defun require-system (name)
  "The name of the system that NAME means; refuse if there is none."
  (let ((name (meant-name name)))
    (unless (or (quicklisp-p) (find-defined name))
      (refuse-unknown-system name))
    name))

(defun refuse-unknown-system (name)
  (let ((near (near-systems name)) (files (unregistered-definitions name)))
    (refuse "SYSTEM-NOT-FOUND"
            (format nil "ASDF knows no system ~S.~@[ Near it: ~{~A~^, ~}.~]~@[~%A definition that it has not been told of: ~{~A~^, ~}.~]"
                    name near (mapcar #'native-name files))
            (if files
                (list :system (native-name (first files)))
                (instead-of name near)))))

(defun named-as-tests-of (name)
  "The systems whose names suggest that they have the tests of the system NAME."
  (loop for suffix in '("/tests" "/test" "-tests" "-test")
        for tests = (concatenate 'string name suffix)
        when (find-defined tests) collect tests))

(defun test-systems (name)
  "The names of the systems that the TEST-OP of the system NAME depends on, and of those whose
names suggest that they have its tests."
  (let ((needed (ignore-errors
                 (loop for (nil . components)
                         in (call-named '#:asdf "COMPONENT-DEPENDS-ON"
                                        (operation "TEST-OP")
                                        (find-defined name))
                       append (loop for component in components
                                    collect (if (typep component '(or string symbol))
                                                (designated-name component)
                                                (call-named '#:asdf "COMPONENT-NAME" component)))))))
    (or (remove name (union needed (named-as-tests-of name) :test #'string=) :test #'string=)
        (progn (rescan-registry) (named-as-tests-of name)))))

(defun loaded-by-test-op (name)
  "The names of other systems than NAME that its TEST-OP loads: they may run tests when they are loaded."
  (loop for (operation . components)
          in (ignore-errors (call-named '#:asdf "COMPONENT-DEPENDS-ON" (operation "TEST-OP")
                                        (find-defined name)))
        when (string= "LOAD-OP" (if (symbolp operation) operation (class-name (class-of operation))))
          append (loop for component in components
                       for other = (and (typep component '(or string symbol)) (designated-name component))
                       when (and other (string/= other name)) collect other)))

(defun load-tests-of (name)
  "Load the system NAME and those of its tests: the frameworks must be there to be encapsulated.  Of a
system that the TEST-OP loads only what it needs is loaded: its tests may run when it is."
  (let* ((before (before-loading))
         (others (and *private-fasls* (test-systems name))))
    (when *private-fasls* (apply #'begin-fresh name others))
    (load-named-system name)
    (let* ((others (or others (test-systems name)))
           (running (loaded-by-test-op name))
           (needed (loop for other in running when (find-defined other) append (direct-dependencies other))))
      (dolist (other (append needed (set-difference others running :test #'string=)))
        ;; what is loaded is left alone: ASDF might read its definition again
        (unless (or (string= other name) (depends-on-p name other))
          ;; TEST-SYSTEM reports a missing one, with the system that requires it
          (when (or (quicklisp-p) (find-defined other))
            (load-named-system other)))))
    (loading-ended before)))

(defun test-system (name)
  "Run the TEST-OP of the system NAME, which is loaded."
  (call-with-building (lambda () (call-named '#:asdf "TEST-SYSTEM" name))))

(defun call-noting-test-op (run function)
  "Call FUNCTION, which runs TEST-OPs; RUN gets what the last of them has returned that does something."
  #+sbcl
  (let ((perform (named-symbol "ASDF" "PERFORM")) (tag (make-symbol "SWANK-MCP"))
        (thread (swank/backend:current-thread)))
    (flet ((note (function operation component)
             (let ((values (multiple-value-list (funcall function operation component))))
               (when (and (eq thread (swank/backend:current-thread))
                          (typep operation (named-symbol "ASDF" "TEST-OP"))
                          (ignore-errors (performs-test-op-p component)))
                 (setf (test-run-returned run)
                       (if values (format nil "~{~A~^, ~}" (mapcar #'test-text values)) "no value")))
               (values-list values))))
      (sbcl:encapsulate perform tag #'note)
      (unwind-protect (funcall function) (sbcl:unencapsulate perform tag))))
  #-sbcl (progn run (funcall function)))

;;; ASDF's default TEST-OP does nothing, silently.

#+sbcl
(defun performs-test-op-p (system)
  "True if the TEST-OP of SYSTEM does something: a method for it is not one of ASDF's own."
  (flet ((asdfs-own-p (class)
           (let ((home (and (typep class 'class) (symbol-package (class-name class)))))
             (or (eq class (find-class t))
                 (and home (eql 0 (search "ASDF" (package-name home))))))))
    (let ((operation (operation "TEST-OP")))
      (some (lambda (method)
              (not (asdfs-own-p (second (sb-mop:method-specializers method)))))
            (compute-applicable-methods (fdefinition (named-symbol "ASDF" "PERFORM"))
                                        (list operation system))))))

(defun systems-of-test-op (name)
  "The system NAME and those whose TEST-OP its own depends on."
  (let ((found '()))
    (labels ((visit (system)
               (when (and system (not (member system found)))
                 (push system found)
                 (loop for (operation . components)
                         in (call-named '#:asdf "COMPONENT-DEPENDS-ON" (operation "TEST-OP") system)
                       when (string= "TEST-OP" (if (symbolp operation)
                                                   operation
                                                   (class-name (class-of operation))))
                         do (dolist (component components)
                              (visit (if (typep component '(or string symbol))
                                         (find-defined (designated-name component))
                                         component)))))))
      (visit (find-defined name))
      (nreverse found))))

#+sbcl
(defun why-untested (name loaded)
  "Why the TEST-OP of the system NAME has run no test, in words; NIL if unknown.  The systems LOADED were
loaded before."
  (let ((others (loaded-by-test-op name)))
    (cond ((some #'performs-test-op-p (systems-of-test-op name)) nil)
          ((set-difference others loaded :test #'string=) nil) ; its tests may have run
          (others
           (format nil "The TEST-OP of ~A loads ~{~A~^, ~}, and does nothing else. That was loaded before. What has ~
                        not changed was not loaded again, so tests in it that run when it is loaded did not run.~%~
                        In a fresh image it is loaded anew: run-tests {\"system\": \"~A\", \"fresh\": true}"
                   name others name))
          (t (why-nothing-is-tested name)))))

#+sbcl
(defun why-nothing-is-tested (name)
  "What to say of the system NAME, whose TEST-OP does nothing."
  (with-output-to-string (out)
    (format out "No test was run: nothing says what the TEST-OP of ~A does, neither :PERFORM in its definition ~
                 nor that of a system that it hands over to." name)
    (dolist (other (remove name (named-as-tests-of name) :test #'string=))
      (if (some #'performs-test-op-p (systems-of-test-op other))
          (format out "~%~A is called as if it had the tests: run-tests {\"system\": \"~:*~A\"}" other)
          (format out "~%~A, which is called as if it had them, was loaded, but its TEST-OP does nothing either. ~
                       Tests that it defines can be run by their names (argument test)." other)))))

(defun run-test-op (run name patience)
  "Run all tests of the system NAME by its TEST-OP, and put their results into RUN, or why there are none."
  (let ((loaded (loaded-systems)))
    (call-recording-results run
                            (lambda () (call-noting-test-op run (lambda () (test-system name))))
                            patience)
    (when (zerop (hash-table-count (test-run-tests run)))
      (setf (test-run-untested run) (ignore-errors (why-untested name loaded))))))

(defun call-for-tests (name debug function)
  "Call FUNCTION, which loads the system NAME and its tests; if it compiles with another DEBUG than
the Lisp's default, apart from their fasls."
  (if (or (null name) (eql debug 1))
      (call-with-debug-quality debug function)
      (call-with-building
       (lambda ()
         (let ((name (require-system name)))
           (call-apart (lambda () (cons name (test-systems name))) debug function))))))

(defun run-tests (&key system test (session "default") (token 0) (debug 1) patience)
  "Run the test called TEST, after loading SYSTEM if given; or all tests of SYSTEM by its TEST-OP.
With PATIENCE an unexpected error suspends, not a failed check.  The answer is EVALUATE's with
  :REPORT (:WHAT TEXT :FRAMEWORKS (LABEL ...) :TESTS n :PASSED n :FAILED n :ERRORS n :SKIPPED n
           :FAILURES ((TEST STATUS FORM REASON PLACE FRAMES) ...) :RAN ((TEST STATUS) ...)
           :BEGUN T :RETURNED TEXT)
of the tests that have run, and of what the TEST-OP has returned; without :BEGUN the system could not be loaded."
  (call-as-work
   (lambda (evaluation read)
     (declare (ignore read))
     (let ((run (make-test-run)) (name system)
           (*load-verbose* nil) (*compile-verbose* nil) (*compile-print* nil))
       (report-with evaluation (lambda () (list* :what (or test system) (run-for-wire run))))
       (call-for-tests
        name debug
        (lambda ()
          (when name
            (call-with-building
             (lambda ()
               ;; reading the definition may print as well
               (let ((*standard-output* (make-broadcast-stream)))
                 (setf name (require-system name))
                 (load-tests-of name)))))
          (setf (test-run-begun run) (microseconds))
          (if test
              (destructuring-bind (name package designator framework) (find-test-named test)
                (declare (ignore name package))
                (call-recording-results run
                                        (lambda () (funcall (framework-runner framework) designator))
                                        patience))
              (run-test-op run name patience))
          (note-project-state name)
          '()))))
   :code (list 'run-tests (or test system)) :session session :token token
   :patience patience))
