(defsystem "ledger-tests"
  :description "Tests of the three systems"
  :depends-on ("ledger" "ledger-import" "ledger-report" "fiveam")
  :serial t
  :components ((:file "package") (:file "book-tests") (:file "import-tests") (:file "report-tests"))
  :perform (test-op (operation system)
             (unless (uiop:symbol-call '#:fiveam '#:run! (uiop:find-symbol* '#:ledger '#:ledger-tests))
               (error "Tests of the ledger failed."))))
