(in-package #:ledger-import)

(defun import-lines (book stream)
  "Add what the lines of STREAM say to BOOK, and return how many did.  The restart SKIP-LINE
leaves a line out."
  (loop for number from 1
        for line = (read-line stream nil)
        while line
        count (and (not (comment-line-p line))
                   (with-simple-restart (skip-line "Leave line ~D out." number)
                     (apply #'transfer book (parse-line line number))
                     t))))
