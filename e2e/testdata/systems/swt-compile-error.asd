(defsystem "swt-compile-error"
  :components ((:file "compile-error")))
