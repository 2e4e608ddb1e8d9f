(defpackage :swt-good (:use :cl) (:export #:answer))
(in-package :swt-good)

(defvar *loads* 0)
(incf *loads*)
(defun answer () 42)
(format t "; swt-good is there~%")
