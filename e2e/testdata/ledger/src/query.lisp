(in-package #:ledger)

(defun entries-between (book from to)
  "The entries of BOOK from the date FROM to the date TO; NIL: no limit."
  (collecting-entries (entry book :from from :to to) t))

(defun entries-of (book account &key from to)
  "The entries of BOOK that post to ACCOUNT, or to one below it."
  (collecting-entries (entry book :from from :to to)
    (posted-to entry account)))

(defun balance-of (book account &key from to)
  "What ACCOUNT has, with those below it, in its own sense: income is positive."
  (let ((sum (make-money 0)))
    (do-entries (entry book :from from :to to)
      (dolist (posting (posted-to entry account))
        (setf sum (money+ sum (posting-amount posting)))))
    (if (minusp (account-sign account)) (money- sum) sum)))

(defun accounts-of-kind (book kind)
  "The accounts of KIND, by path."
  (sort (loop for account being the hash-values of (book-accounts book)
              when (eq (account-kind account) kind) collect account)
        #'string< :key #'account-path))
