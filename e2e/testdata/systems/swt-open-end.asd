(defsystem "swt-open-end"
  :components ((:file "open-end")))
