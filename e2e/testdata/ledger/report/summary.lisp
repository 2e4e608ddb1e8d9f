(in-package #:ledger-report)

(defun month (entry) (subseq (entry-date entry) 0 7))

(defun monthly (book)
  "((MONTH . ENTRIES) ...), the months in order."
  (let ((months (make-hash-table :test 'equal)))
    (do-entries (entry book)
      (push entry (gethash (month entry) months)))
    (sort (loop for month in (alexandria:hash-table-keys months)
                collect (cons month (reverse (gethash month months))))
          #'string< :key #'car)))

(defun turnover (entries)
  "What ENTRIES move, in cents."
  (loop for entry in entries
        sum (loop for posting in (entry-postings entry)
                  for cents = (money-cents (posting-amount posting))
                  when (plusp cents) sum cents)))

(defun summary-report (book stream)
  (write-table (loop for (month . entries) in (monthly book)
                     collect (list month
                                   (format nil "~D" (length entries))
                                   (format-money (make-money (turnover entries)))))
               '(:left :right :right)
               stream))
