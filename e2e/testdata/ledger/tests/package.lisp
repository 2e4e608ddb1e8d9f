(defpackage #:ledger-tests
  (:use #:cl #:ledger #:ledger-import #:ledger-report #:fiveam)
  (:export #:ledger))

(in-package #:ledger-tests)

(def-suite ledger-tests:ledger :description "All tests of the ledger.")
(in-suite ledger-tests:ledger)

(defun sample-book ()
  (let ((book (ledger::standard-accounts (make-book))))
    (transfer book "2024-01-31" "pay" "salary" "bank" 250000)
    (transfer book "2024-02-01" "rent" "bank" "rent" 90000)
    (transfer book "2024-02-03" "bread" "bank" "food" 350)
    book))

(defun text-of (writer &rest arguments)
  (with-output-to-string (stream)
    (apply writer (append arguments (list stream)))))
