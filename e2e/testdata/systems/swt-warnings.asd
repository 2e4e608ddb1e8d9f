(defsystem "swt-warnings"
  :components ((:file "warnings")))
