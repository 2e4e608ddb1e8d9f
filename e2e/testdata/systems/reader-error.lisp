(in-package :cl-user)

(defun swt-unread (x)
  (swt-no-such-package:twice x))
