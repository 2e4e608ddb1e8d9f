(defpackage :swt-warnings (:use :cl) (:export #:half))
(in-package :swt-warnings)

(defun half (x)
  (let ((unused 1))
    (/ x 2)))

(defun lost () *swt-nowhere*)
