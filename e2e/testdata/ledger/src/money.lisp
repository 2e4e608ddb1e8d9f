(in-package #:ledger)

(defparameter *default-currency* "EUR")

(defstruct (money (:constructor make-money (cents &optional (currency *default-currency*))))
  "An amount in hundredths of a currency."
  (cents 0 :type integer)
  (currency *default-currency* :type string))

(defun same-currency (a b)
  (unless (string= (money-currency a) (money-currency b))
    (error 'ledger-error))
  (money-currency a))

(defun money+ (first &rest more)
  "The sum of amounts in one currency."
  (reduce (lambda (a b) (make-money (+ (money-cents a) (money-cents b)) (same-currency a b)))
          more :initial-value first))

(defun money- (first &rest more)
  "FIRST less the others; its opposite if there are none."
  (if more
      (reduce (lambda (a b) (make-money (- (money-cents a) (money-cents b)) (same-currency a b)))
              more :initial-value first)
      (make-money (- (money-cents first)) (money-currency first))))

(defun money-zero-p (money) (zerop (money-cents money)))

(defun format-money (money)
  "MONEY as in -1,234.50 EUR."
  (multiple-value-bind (whole cents) (truncate (abs (money-cents money)) 100)
    (format nil "~:[~;-~]~:D.~2,'0D ~A"
            (minusp (money-cents money)) whole cents (money-currency money))))
