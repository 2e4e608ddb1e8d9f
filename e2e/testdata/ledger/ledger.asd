(defsystem "ledger"
  :description "Double-entry bookkeeping"
  :depends-on ("alexandria")
  :pathname "src/"
  :serial t
  :components ((:file "package") (:file "conditions") (:file "macros") (:file "money")
               (:file "account") (:file "entry") (:file "book") (:file "rules")
               (:file "query") (:file "ledger"))
  :in-order-to ((test-op (test-op "ledger-tests"))))
