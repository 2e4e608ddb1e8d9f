(defpackage #:ledger-import
  (:use #:cl #:ledger)
  (:export #:parse-fields #:parse-date #:parse-amount #:parse-line #:import-lines #:bad-line
           #:bad-line-number #:skip-line))
