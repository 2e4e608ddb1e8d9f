(in-package #:ledger-report)

(defun balances (book)
  "((PATH . MONEY) ...) of the accounts that have something, by path."
  (let ((found '()))
    (maphash (lambda (path account)
               (let ((balance (balance-of book account)))
                 (unless (money-zero-p balance)
                   (push (cons path balance) found))))
             (book-accounts book))
    (sort found #'string< :key #'car)))

(defun balance-report (book stream)
  (write-table (loop for (path . money) in (balances book)
                     collect (list path (format-money money)))
               '(:left :right)
               stream))
