(in-package #:ledger-tests)
(in-suite ledger-tests:ledger)

(test balance-report
  (is (string= "bank    1,596.50 EUR
food        3.50 EUR
rent      900.00 EUR
salary  2,500.00 EUR
" (text-of #'balance-report (sample-book)))))

(test register-report
  (is (string= "2024-01-31  pay    2,500.00 EUR  2,500.00 EUR
2024-02-01  rent    -900.00 EUR  1,600.00 EUR
2024-02-03  bread     -3.50 EUR  1,596.50 EUR
" (text-of #'register-report (sample-book) "bank"))))

(test summary-report
  (is (string= "2024-01  1  2,500.00 EUR
2024-02  2    903.50 EUR
" (text-of #'write-report :summary (sample-book))))
  (signals error (write-report :weekly (sample-book))))
