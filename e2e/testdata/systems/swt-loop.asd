(defsystem "swt-loop"
  :components ((:file "loop")))
