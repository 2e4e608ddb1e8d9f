;;;; tests.lisp -- results of tests, of several frameworks

(cl:in-package #:swank-mcp)

(define-test tests
  (flet ((place (text) (test-position (format nil text) "ODD")))
    (check (place "(a) (test odd 1)") 4)
    (check (place "(fiveam:def-test odd () 1)") 0)
    (check (place "; odd~%(deftest (odd :x 1) 1)") 6)
    (check (place "(define-test \"odd\" 1)") 0)
    (check (place "(define-test 'odd 1)") 0)
    (check (place "(test~%  odd~%  1)") 0)
    (check (place "(test oddity 1) (list test odd) (untest-it odd) (test) odd") nil)
    (check (place "test odd") nil)
    (check (place "(estodd)") nil))
  (check (run-for-wire (let ((run (make-test-run)))
                         (run-record run "F" "A" :passed nil nil nil)
                         (run-record run "F" "A" :failed "form" nil nil)
                         run))
         '(:frameworks ("F") :tests 1 :passed 1 :failed 1 :errors 0 :skipped 0
           :failures (("A" "failed" "form" "" "" nil)) :ran (("A" "failed"))))
  (check (call-recording-results (make-test-run) (lambda () :value)) :value))

;;; Two sessions run tests at a time.

(defun fake-result (name) name)

(define-test two-sessions-run-tests
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
    (check (sb-impl::encapsulation-info (symbol-function 'fake-result)) nil)))
