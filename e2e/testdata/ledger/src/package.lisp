(defpackage #:ledger
  (:use #:cl)
  (:export #:ledger-error #:unbalanced-entry #:unknown-account #:unbalanced-sum
           #:define-account-kind #:do-entries #:collecting-entries
           #:money #:make-money #:money-cents #:money-currency #:money+ #:money- #:money-zero-p
           #:format-money
           #:account #:account-name #:account-kind #:account-parent #:account-path #:parents
           #:entry #:make-entry #:entry-date #:entry-text #:entry-postings
           #:posting #:make-posting #:posting-account #:posting-amount
           #:book #:make-book #:book-accounts #:book-entries #:find-account #:open-account #:add-entry
           #:check-entry #:entries-between #:entries-of #:balance-of #:transfer))
