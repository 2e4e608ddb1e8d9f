(in-package #:ledger-tests)
(in-suite ledger-tests:ledger)

(test money-adds-up
  (is (= 350 (money-cents (money+ (make-money 100) (make-money 250)))))
  (is (string= "-1,234.50 EUR" (format-money (make-money -123450))))
  (signals ledger-error (money+ (make-money 1 "EUR") (make-money 1 "USD"))))

(test accounts-have-parents
  (let ((account (find-account (sample-book) "bank:savings")))
    (is (equal '("bank") (mapcar #'account-name (parents account))))
    (is (string= "bank:savings" (account-path account)))))

(test balances-follow-the-kind
  (let ((book (sample-book)))
    (flet ((cents (path &rest range) (money-cents (apply #'balance-of book (find-account book path) range))))
      (is (= 250000 (cents "salary")))
      (is (= 159650 (cents "bank")))
      (is (= 250000 (cents "bank" :to "2024-01-31")))
      (is (= 90000 (cents "rent" :from "2024-02-01" :to "2024-02-02"))))))

(test entries-are-checked
  (let ((book (sample-book)))
    (signals unknown-account (transfer book "2024-03-01" "?" "bank" "boat" 1))
    (signals error (transfer book "2023-02-29" "no such day" "bank" "food" 1))
    (signals unbalanced-entry
      (add-entry book (make-entry :date "2024-03-01"
                                  :postings (list (make-posting :account (find-account book "bank")
                                                                :amount (make-money 1))))))))

(test entries-are-in-order
  (let ((book (sample-book)))
    (transfer book "2024-01-01" "first" "loan" "cash" 5)
    (is (equal '("first" "pay" "rent" "bread") (mapcar #'entry-text (book-entries book))))
    (is (= 2 (length (entries-between book nil "2024-01-31"))))))
