(in-package :cl-user)

(defun swt-closed (x) x)

(defun swt-open (x)
  (list x
