(in-package #:ledger)

(defun transfer (book date text from to cents)
  "Move CENTS from one account to another; both are paths."
  (let ((amount (make-money cents)))
    (add-entry book
               (make-entry :date date :text text
                           :postings (list (make-posting :account (find-account book to)
                                                         :amount amount)
                                           (make-posting :account (find-account book from)
                                                         :amount (money- amount)))))))

(defun standard-accounts (book)
  "Open the accounts that everybody needs."
  (loop for (path kind) in '(("cash" :asset) ("bank" :asset) ("bank:savings" :asset)
                             ("food" :expense) ("rent" :expense) ("loan" :debt) ("salary" :income))
        do (open-account book path kind))
  book)
