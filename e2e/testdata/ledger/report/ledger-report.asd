(defsystem "ledger-report"
  :description "Reports of a book as text"
  :depends-on ("ledger" "alexandria")
  :serial t
  :components ((:file "package") (:file "table") (:file "balance") (:file "register")
               (:file "summary") (:file "report")))
