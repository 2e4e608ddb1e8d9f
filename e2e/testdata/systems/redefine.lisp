(in-package :cl-user)

(defun swt-function () :file)
(defmacro swt-macro () :file)
(defclass swt-class () (file))
(defgeneric swt-generic (x))
(defmethod swt-generic ((x integer)) :file)
(defun swt-only-in-the-file () :file)
