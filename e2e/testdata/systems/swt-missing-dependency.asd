(defsystem "swt-missing-dependency"
  :depends-on ("no-such-dependency")
  :components ((:file "good")))
