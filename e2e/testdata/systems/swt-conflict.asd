(defsystem "swt-conflict"
  :components ((:file "conflict")))
