(defsystem "swt-alias"
  :components ((:file "alias")))
