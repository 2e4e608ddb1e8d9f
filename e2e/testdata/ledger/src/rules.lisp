(in-package #:ledger)

(defmethod check-entry (entry book)
  (declare (ignore book))
  (let ((sum (entry-sum entry)))
    (unless (money-zero-p sum)
      (error 'unbalanced-entry :entry entry :sum (format-money sum)))))

(defmethod check-entry :before ((entry entry) (book book))
  (dolist (posting (entry-postings entry))
    (let ((path (account-path (posting-account posting))))
      (unless (eq (find-account book path) (posting-account posting))
        (error 'unknown-account :name path)))))

(defmethod check-entry :after ((entry entry) (book book))
  (unless (valid-date-p (entry-date entry))
    (error "~A is no date." (entry-date entry))))

(defun days-in-month (year month)
  (case month
    (2 (if (and (zerop (mod year 4)) (or (plusp (mod year 100)) (zerop (mod year 400)))) 29 28))
    ((4 6 9 11) 30)
    (t 31)))

(defun valid-date-p (date)
  "True if DATE is a string like 2024-02-29."
  (and (= (length date) 10)
       (char= #\- (char date 4) (char date 7))
       (let ((year (parse-integer date :end 4 :junk-allowed t))
             (month (parse-integer date :start 5 :end 7 :junk-allowed t))
             (day (parse-integer date :start 8 :junk-allowed t)))
         (and year month day
              (<= 1 month 12)
              (<= 1 day (days-in-month year month))))))
