(defsystem "swt-reader-error"
  :components ((:file "reader-error")))
