(defsystem "swt-redefine"
  :components ((:file "redefine")))
