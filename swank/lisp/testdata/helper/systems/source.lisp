;;;; source.lisp -- where a definition stands in a text

(cl:in-package #:swank-mcp)

(defun located (text index name &rest arguments)
  (multiple-value-bind (begin end) (apply #'locate-form text index name arguments)
    (and begin (subseq text begin end))))

(define-test source
  (let ((text "(progn (defun a () 1) (defmethod (setf b) (x) x)) (list 'c) (defun c ()) (defstruct s y)"))
    (check (located text 0 "A") "(defun a () 1)")
    (check (located text 0 "B") "(defmethod (setf b) (x) x)")
    (check (located text nil "B") "(defmethod (setf b) (x) x)")
    (check (located text 1 "C") "(defun c ())")         ; edited since
    (check (located text 3 "S-Y" :trusted t) "(defstruct s y)")
    (check (located text 3 "S-Y") nil)
    (check (located text 3 "PRINT-OBJECT" :words '("S")) "(defstruct s y)")
    (check (located text 99 "D") nil))
  (let ((text "(defmethod m ((x cons)) 1) (defmethod m ((x string)) 2)"))
    (check (located text 0 "M" :words '("STRING")) "(defmethod m ((x string)) 2)")
    (check (located text 1 "M" :words '("CONS")) "(defmethod m ((x cons)) 1)")))
