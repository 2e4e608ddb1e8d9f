(defsystem "ledger-import"
  :description "Reading entries from text"
  :depends-on ("ledger" "split-sequence" "cl-ppcre")
  :serial t
  :components ((:file "package") (:file "fields") (:file "dates") (:file "amounts")
               (:file "lines") (:file "import")))
