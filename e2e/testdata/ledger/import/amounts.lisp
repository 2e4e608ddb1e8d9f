(in-package #:ledger-import)

(defun parse-amount (text)
  "The amount TEXT, like -1,234.5 or 12, in cents; NIL if it is none."
  (cl-ppcre:register-groups-bind (sign whole fraction)
      ("^([+-]?)(\\d{1,3}(?:,\\d{3})+|\\d+)(?:\\.(\\d{1,2}))?$" text)
    (let ((cents (+ (* 100 (parse-integer (remove #\, whole)))
                    (fraction-cents fraction))))
      (if (string= sign "-") (- cents) cents))))

(defun fraction-cents (digits)
  (ecase (length digits)
    (0 0)
    (1 (* 10 (parse-integer digits)))
    (2 (parse-integer digits))))
