(in-package #:ledger-import)

(defparameter *months* '("jan" "feb" "mar" "apr" "may" "jun" "jul" "aug" "sep" "oct" "nov" "dec"))

(defun month-number (name)
  (let ((at (position name *months* :test #'string-equal)))
    (and at (1+ at))))

(defun iso-date (year month day)
  (format nil "~4,'0D-~2,'0D-~2,'0D" year month day))

(defun parse-date (text)
  "The date TEXT, like 2024-02-29, 29.2.2024 or 29 Feb 2024, as 2024-02-29; NIL if it is none."
  (or (cl-ppcre:register-groups-bind ((#'parse-integer year month day))
          ("^(\\d{4})-(\\d{1,2})-(\\d{1,2})$" text)
        (iso-date year month day))
      (cl-ppcre:register-groups-bind ((#'parse-integer day month year))
          ("^(\\d{1,2})\\.(\\d{1,2})\\.(\\d{4})$" text)
        (iso-date year month day))
      (cl-ppcre:register-groups-bind ((#'parse-integer day) (#'month-number month) (#'parse-integer year))
          ("^(\\d{1,2}) ([A-Za-z]{3}) (\\d{4})$" text)
        (and month (iso-date year month day)))))
