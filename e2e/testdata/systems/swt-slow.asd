(defsystem "swt-slow"
  :components ((:file "slow")))
