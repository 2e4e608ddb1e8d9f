(in-package #:ledger-import)

(defun parse-line (line number)
  "(DATE TEXT FROM TO CENTS) of LINE, the NUMBERth; a BAD-LINE error if it is not like that."
  (destructuring-bind (&optional date text from to amount &rest more) (parse-fields line)
    (let ((date (and date (parse-date date)))
          (cents (and amount (parse-amount amount))))
      (if (and date cents (null more))
          (list date text from to cents)
          (error 'bad-line :number number :text line)))))
