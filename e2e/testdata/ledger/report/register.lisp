(in-package #:ledger-report)

(defun register-rows (book account)
  (let ((sum (make-money 0)))
    (loop for entry in (entries-of book account)
          append (loop for posting in (entry-postings entry)
                       when (eq (posting-account posting) account)
                         do (setf sum (money+ sum (posting-amount posting)))
                         and collect (list (entry-date entry)
                                           (entry-text entry)
                                           (format-money (posting-amount posting))
                                           (format-money sum))))))

(defun register-report (book path stream)
  "Write the postings to the account of that PATH, each with the sum so far."
  (write-table (register-rows book (find-account book path)) '(:left :left :right :right) stream))
