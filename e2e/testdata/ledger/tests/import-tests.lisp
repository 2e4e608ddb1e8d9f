(in-package #:ledger-tests)
(in-suite ledger-tests:ledger)

(test dates-of-three-kinds
  (is (equal '("2024-02-29" "2024-02-29" "2024-02-29" nil)
             (mapcar #'parse-date '("2024-02-29" "29.2.2024" "29 Feb 2024" "yesterday")))))

(test amounts-in-cents
  (is (equal '(1200 -123450 5 nil) (mapcar #'parse-amount '("12" "-1,234.5" "0.05" "1.2.3")))))

(defun imported (text)
  (let ((book (sample-book)))
    (values (with-input-from-string (stream text) (import-lines book stream)) book)))

(test lines-are-imported
  (multiple-value-bind (count book) (imported "# March
1.3.2024; rent; bank; rent; 900
3 Mar 2024; cheese; cash; food; 4.20
")
    (is (= 2 count))
    (is (= 5 (length (book-entries book))))
    (is (= 770 (money-cents (balance-of book (find-account book "food")))))))

(test bad-lines-can-be-skipped
  (signals bad-line (imported "nonsense"))
  (is (= 1 (handler-bind ((bad-line (lambda (condition)
                                      (invoke-restart (find-restart 'skip-line condition)))))
             (imported (format nil "nonsense~%2024-03-01; x; bank; food; 1~%"))))))
