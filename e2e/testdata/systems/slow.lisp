(defpackage :swt-slow (:use :cl))
(in-package :swt-slow)

(dotimes (i 5)
  (format t "; step ~D~%" i)
  (sleep 0.4))
