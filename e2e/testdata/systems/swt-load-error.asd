(defsystem "swt-load-error"
  :components ((:file "load-error")))
