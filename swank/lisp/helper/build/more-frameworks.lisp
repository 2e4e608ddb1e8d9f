;;;; more-frameworks.lisp -- RT, Fiasco, 1am, lisp-unit2, Prove and Clunit2

(cl:in-package #:swank-mcp)

;;; Some of these have a function for each kind of result.  Each is a FRAMEWORK of the same label,
;;; and the first of them has the tests.

(defvar *running-test* nil "The name of the test that runs, of frameworks that do not keep it.")
(defvar *running-error* nil "The error that Clunit2 is just turning into a text.")

(defun named-slot (object package name)
  (ignore-errors (slot-value object (named-symbol package name))))

(defun test-label (name)
  "How the test called NAME is shown; checks may also be made outside of tests."
  (cond ((null name) "(no test)")
        ((symbolp name) (spelling name))
        (t (clip (princ-to-string name) 200))))

(defun record-named (run label name status form reason &optional condition)
  "RUN-RECORD for the test called NAME."
  (let ((*package* (or (and name (symbolp name) (symbol-package name)) *package*)))
    (run-record run label (test-label name) status
                (and form (test-text form)) (text-of-reason reason)
                (and name (symbolp name) (symbol-package name)
                     (test-place run (symbol-name name) (symbol-package name)))
                condition)))

(defun expected-text (expected returned)
  "What was EXPECTED and what was RETURNED, lists of values."
  (format nil "Expected ~{~A~^, ~}, got ~{~A~^, ~}."
          (mapcar #'test-text expected) (mapcar #'test-text returned)))

;;; RT: (DO-ENTRY ENTRY STREAM) runs a test and prints why it has failed.

(defun record-rt (run arguments value)
  (when *returnedp*
    (let ((entry (first arguments)))
      (flet ((of (name)
               (let ((package (package-name (symbol-package (type-of entry)))))
                 (read-slot entry package name))))
        (record-named run "RT" (of "NAME") (if value :passed :failed) (of "FORM")
                      (format nil "Expected ~{~A~^, ~}; what it got is in the output."
                              (mapcar #'test-text (of "VALS"))))))))

(dolist (package '("SB-RT" "REGRESSION-TEST"))
  (let ((package package))
    (push (make-framework
           :label "RT" :package package :function (list package "DO-ENTRY") :recorder 'record-rt
           :tests (lambda ()
                    (loop for entry in (rest (named-value package "*ENTRIES*"))
                          for name = (read-slot entry package "NAME")
                          collect (if (symbolp name) (symbol-test name) (list (princ-to-string name) "" name))))
           :runner (lambda (test) (call-named package "DO-TEST" test)))
          *frameworks*)))

;;; Fiasco

(defun fiasco-test ()
  (read-slot (read-slot (named-value "FIASCO" "*CONTEXT*") "FIASCO" "TEST-OF") "FIASCO" "NAME-OF"))

(defun record-fiasco-failure (run arguments value)
  (declare (ignore value))
  (destructuring-bind (type &key form error format-control format-arguments expected-condition-type
                                 observed-condition &allow-other-keys)
      arguments
    (record-named run "Fiasco" (fiasco-test) (if (string= type "UNEXPECTED-ERROR") :error :failed) form
                  (cond (error)
                        (format-control
                         (safely (apply #'format nil format-control format-arguments)))
                        (observed-condition)
                        (expected-condition-type
                         (format nil "It signals no ~A." (test-text expected-condition-type))))
                  error)))

(dolist (function (list (list "REGISTER-ASSERTION-WAS-SUCCESSFUL"
                              (lambda (run arguments value)
                                (declare (ignore arguments value))
                                (record-named run "Fiasco" (fiasco-test) :passed nil nil)))
                        (list "SKIP"
                              (lambda (run arguments value)
                                (declare (ignore arguments value))
                                (record-named run "Fiasco" (fiasco-test) :skipped nil nil)))))
  (push (make-framework :label "Fiasco" :package "FIASCO" :function (list "FIASCO" (first function))
                        :recorder (second function))
        *frameworks*))

(push (make-framework
       :label "Fiasco" :package "FIASCO" :function '("FIASCO" "RECORD-FAILURE")
       :recorder 'record-fiasco-failure
       :tests (lambda ()
                (loop for name being the hash-keys of (named-value "FIASCO" "*TESTS*")
                      collect (symbol-test name)))
       :runner (lambda (test) (call-named "FIASCO" "RUN-TESTS" test)))
      *frameworks*)

;;; 1am: a check that fails is an error, which ends the run.

(defun call-around-1am (run function arguments)
  (let ((*running-test* (first arguments)))
    (handler-bind ((error (lambda (condition)
                            (unless (gethash condition (test-run-seen run))
                              (setf (gethash condition (test-run-seen run)) t)
                              (ignore-errors
                               (record-named run "1am" *running-test*
                                             (if (1am-failure-p condition) :failed :error)
                                             nil condition condition))))))
      (funcall function))))

(defun 1am-failure-p (condition)
  "True of the error by which IS or SIGNALS of 1am says that its check has failed."
  (and (eq (type-of condition) 'simple-error)
       (some (lambda (beginning) (starts-with beginning (condition-text condition)))
             '("The assertion " "Expected to signal "))))

(push (make-framework
       :label "1am" :package "1AM" :function '("1AM" "PASSED")
       :recorder (lambda (run arguments value)
                   (declare (ignore arguments value))
                   (record-named run "1am" *running-test* :passed nil nil))
       :whole '("1AM" "CALL-TEST") :around 'call-around-1am
       :tests (lambda () (mapcar #'symbol-test (named-value "1AM" "*TESTS*")))
       :runner (lambda (test) (funcall test)))
      *frameworks*)

;;; lisp-unit2: INTERNAL-ASSERT signals what came of the check, and %RUN-TEST returns the errors.

(defun record-lisp-unit2-check (run condition)
  (unless (gethash condition (test-run-seen run))
    (let ((name (read-slot (named-value "LISP-UNIT2" "*UNIT-TEST*") "LISP-UNIT2" "NAME")))
      (flet ((is (type) (instance-of-named-p condition "LISP-UNIT2" type)))
        (when (or (is "ASSERTION-PASS") (is "ASSERTION-FAIL"))
          (setf (gethash condition (test-run-seen run)) t)
          (if (is "ASSERTION-PASS")
              (record-named run "lisp-unit2" name :passed nil nil)
              (let ((failure (read-slot condition "LISP-UNIT2" "FAILURE")))
                (flet ((of (accessor) (read-slot failure "LISP-UNIT2" accessor)))
                  (record-named run "lisp-unit2" name :failed (of "FORM")
                                (expected-text (of "EXPECTED") (of "ACTUAL")))))))))))

(push (make-framework
       :label "lisp-unit2" :package "LISP-UNIT2" :function '("LISP-UNIT2" "%RUN-TEST")
       :recorder (lambda (run arguments value)
                   (dolist (condition (ignore-errors
                                       (call-named "LISP-UNIT2" "HEAD" (read-slot value "LISP-UNIT2" "ERRORS"))))
                     (record-named run "lisp-unit2" (read-slot (first arguments) "LISP-UNIT2" "NAME")
                                   :error nil condition condition)))
       :whole '("LISP-UNIT2" "INTERNAL-ASSERT")
       :around (lambda (run function arguments)
                 (declare (ignore arguments))
                 (handler-bind ((condition (lambda (condition)
                                             (ignore-errors (record-lisp-unit2-check run condition)))))
                   (funcall function)))
       :tests (lambda ()
                (mapcar (lambda (test) (symbol-test (read-slot test "LISP-UNIT2" "NAME")))
                        (call-named "LISP-UNIT2" "LIST-TESTS")))
       :runner (lambda (test) (call-named "LISP-UNIT2" "RUN-TESTS" :tests test)))
      *frameworks*)

;;; Prove: (ADD-REPORT REPORT SUITE); the report of a subtest has those of its checks once more.

(defun record-prove (run arguments value)
  (declare (ignore value))
  (let ((report (first arguments)))
    (flet ((is (type) (instance-of-named-p report "PROVE.REPORT" type))
           (of (slot) (named-slot report "PROVE.REPORT" slot)))
      (when (is "NORMAL-TEST-REPORT")
        (record-named run "Prove" (or *running-test* (package-name *package*))
                      (cond ((is "SKIPPED-TEST-REPORT") :skipped) ((is "ERROR-TEST-REPORT") :error)
                            ((is "PASSED-TEST-REPORT") :passed) (t :failed))
                      nil
                      (if (is "ERROR-TEST-REPORT")
                          (of "GOT")
                          (format nil "~@[~A: ~]~A is not~:[~; to be~] ~A." (of "DESCRIPTION")
                                  (test-text (of "GOT")) (of "NOTP") (test-text (of "EXPECTED"))))
                      (and (is "ERROR-TEST-REPORT") (of "GOT")))))))

(push (make-framework
       :label "Prove" :package "PROVE" :function '("PROVE.SUITE" "ADD-REPORT") :recorder 'record-prove
       :whole '("PROVE.TEST" "%SUBTEST")
       :around (lambda (run function arguments)
                 (declare (ignore run))
                 (let ((*running-test* (format nil "~@[~A~]~A"
                                               (and *running-test*
                                                    (concatenate 'string *running-test* *test-part-separator*))
                                               (first arguments))))
                   (funcall function)))
       :tests (lambda ()
                (loop for package being the hash-keys of (named-value "PROVE.TEST" "*PACKAGE-TESTS*")
                        using (hash-value tests)
                      append (loop for (name) in tests
                                   collect (list (string name) (package-name package) (cons package name)))))
       :runner (lambda (test)
                 (let ((*package* (car test)))
                   (call-named "PROVE.TEST" "RUN-TEST" (cdr test)))))
      *frameworks*)

;;; Clunit2: (HANDLE-ASSERTION CONDITION) leaves by a restart.

(defun record-clunit (run arguments value)
  (declare (ignore value))
  (let ((condition (first arguments)))
    (flet ((is (type) (instance-of-named-p condition "CLUNIT" type))
           (of (slot) (named-slot condition "CLUNIT" slot)))
      (record-named run "Clunit2" (named-value "CLUNIT" "*TEST-NAME*")
                    (cond ((is "ASSERTION-PASSED") :passed) ((is "ASSERTION-ERROR") :error) (t :failed))
                    (of "EXPRESSION")
                    (cond ((is "ASSERTION-FAILED")
                           (expected-text (list (of "EXPECTED")) (list (of "RETURNED"))))
                          ((is "ASSERTION-FAIL-FORCED")
                           (safely (apply #'format nil (of "FORMAT-STRING") (of "ARGS"))))
                          (t (or *running-error* (of "MESSAGE"))))
                    *running-error*))))

(push (make-framework
       :label "Clunit2" :package "CLUNIT" :function '("CLUNIT" "SKIP-TEST-CASE")
       :recorder (lambda (run arguments value)
                   (declare (ignore arguments value))
                   (record-named run "Clunit2"
                                 (read-slot (named-value "CLUNIT" "*CLUNIT-TEST-REPORT*")
                                            "CLUNIT" "TEST-REPORT-NAME")
                                 :skipped nil nil)))
      *frameworks*)

(push (make-framework
       :label "Clunit2" :package "CLUNIT" :function '("CLUNIT" "HANDLE-ASSERTION")
       :recorder 'record-clunit
       :whole '("CLUNIT" "HANDLE-ERROR")
       :around (lambda (run function arguments)
                 (declare (ignore run))
                 (let ((*running-error* (first arguments))) (funcall function)))
       :tests (lambda ()
                (mapcar #'symbol-test (append (call-named "CLUNIT" "GET-DEFINED-TESTS")
                                              (call-named "CLUNIT" "GET-DEFINED-SUITES"))))
       :runner (lambda (test)
                 (call-named "CLUNIT" (if (call-named "CLUNIT" "DEFINED-SUITE-P" test) "RUN-SUITE" "RUN-TEST")
                             test)))
      *frameworks*)

;;; Parts of messages

(defun framework-labels ()
  "The labels of all frameworks, as \"A, B or C\"."
  (let ((labels (remove-duplicates (reverse (mapcar #'framework-label *frameworks*)) :test #'string=)))
    (format nil "~{~A~^, ~} or ~A" (butlast labels) (first (last labels)))))
