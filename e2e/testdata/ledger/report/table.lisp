(in-package #:ledger-report)

(defun column-widths (rows)
  (apply #'mapcar (lambda (&rest cells) (reduce #'max (mapcar #'length cells))) rows))

(defun write-cell (cell width align stream)
  (let ((space (make-string (- width (length cell)) :initial-element #\Space)))
    (ecase align
      (:left (format stream "~A~A" cell space))
      (:right (format stream "~A~A" space cell)))))

(defun write-table (rows aligns stream)
  "Write ROWS, lists of strings, with two spaces between the columns."
  (when rows
    (let ((widths (column-widths rows)))
      (dolist (row rows)
        (loop for cell in row
              for width in widths
              for align in aligns
              for first = t then nil
              do (unless first (write-string "  " stream))
                 (write-cell cell width align stream))
        (terpri stream)))))
