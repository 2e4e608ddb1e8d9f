(defpackage #:ledger-report
  (:use #:cl #:ledger)
  (:export #:write-table #:balances #:balance-report #:register-report #:monthly #:summary-report
           #:write-report #:*report-kinds*))
