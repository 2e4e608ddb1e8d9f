(in-package :cl-user)

(defun swt-fine () 1)

(defun swt-broken (x)
  (let ((y 1 2))
    (+ x y)))
