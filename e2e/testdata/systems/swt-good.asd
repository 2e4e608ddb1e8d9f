(defsystem "swt-good"
  :components ((:file "good")))
