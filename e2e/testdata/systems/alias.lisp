(defpackage :swt-alias (:use :cl))
