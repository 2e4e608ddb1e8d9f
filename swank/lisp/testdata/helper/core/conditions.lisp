;;;; conditions.lisp -- what conditions are called and what they say

(cl:in-package #:swank-mcp)

(defpackage #:helper-test.a (:use) (:export #:known))

(define-test conditions
  (check (name-label 'car) "CAR")
  (check (name-label 'cl-user::foo) "FOO")
  (check (name-label 'helper-test.a:known) "HELPER-TEST.A:KNOWN")
  (check (name-label (intern "HIDDEN" '#:helper-test.a)) "HELPER-TEST.A::HIDDEN")
  (check (type-label (make-condition 'sb-int:simple-reader-error)) "READER-ERROR")
  (check (type-label (make-condition 'sb-kernel::heap-exhausted-error)) "STORAGE-CONDITION")
  (check (type-label (make-condition 'division-by-zero)) "DIVISION-BY-ZERO")
  (check (multiple-value-list (line-and-column (format nil "ab~%cd") 0)) '(1 1))
  (check (multiple-value-list (line-and-column (format nil "ab~%cd") 4)) '(2 2))
  (check (multiple-value-list (line-and-column "ab" 99)) '(1 3))
  (check (next-form-position (format nil "  ; note~%  (a)") 0) 11)
  (check (call-safely (lambda () "fine")) "fine")
  (check (call-safely (lambda () (error "bad"))) "#<printing it failed: SIMPLE-ERROR: bad>")
  (check (call-safely (lambda () (break))) "#<printing it failed: SIMPLE-CONDITION: break>"))
