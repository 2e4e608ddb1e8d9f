(in-package #:ledger)

(defstruct posting
  "A part of an entry: AMOUNT is debited to ACCOUNT."
  account
  (amount (make-money 0) :type money))

(defstruct entry
  "What happened on DATE, a string as 2024-02-29."
  (date "1970-01-01" :type string)
  (text "" :type string)
  (postings '() :type list))

(defun entry-sum (entry)
  "The sum of all postings of ENTRY, which is 0 if it is right."
  (reduce #'money+ (mapcar #'posting-amount (entry-postings entry))
          :initial-value (make-money 0)))

(defun posted-to (entry account)
  "The postings of ENTRY to ACCOUNT, or to one below it."
  (remove-if-not (lambda (posting) (within-account-p (posting-account posting) account))
                 (entry-postings entry)))
