(defpackage :swt-one (:use) (:export #:same))
(defpackage :swt-two (:use) (:export #:same))
(defpackage :swt-both (:use :swt-one :swt-two))
