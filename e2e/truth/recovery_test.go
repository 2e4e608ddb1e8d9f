package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// After its image has died the session is as it was but for values: the next
// reply says what came back and what did not.
func TestRecovery(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defpackage :shop (:use :cl)) (in-package :shop)
(defmacro define-price (name price) `+"`(defun ,name () ,price)"+`)
(define-price apple 3)
(defvar *stock* 10) (defparameter *sum* (+ (apple) 1)) (defconstant +vat+ 19)
(defclass item () ((n :initarg :n :reader n))) (defstruct box a)
(defgeneric cost (x)) (defmethod cost ((i item)) (* (n i) (apple)))
(let ((count 0)) (defun next () (incf count)))
(dotimes (i 2) (eval `+"`(defun ,(intern (format nil \"F~d\" i)) () ,i)))"+` :ready`, "=> :READY")
	harness.Want(t, s, `(setf *stock* 3) (next) (next)`, "=> 2")
	harness.Want(t, s, `(progn (defun side () :one) (set 'cl-user::*effects* 1))`, "=> 1")
	harness.Kill9(t, s)
	harness.Says(t, harness.Want(t, s, `(list (apple) *stock* *sum* +vat+ (cost (make-instance 'item :n 2)) (make-box :a 1) (next) (f1) (side) (boundp 'cl-user::*effects*) (package-name *package*))`,
		"=> (3 10 4 19 6 #S(BOX :A 1) 1 1 :ONE NIL \"SHOP\")\n; …"), "killed by signal 9", "Restored: ", "*STOCK*")
	harness.Want(t, s, "(apple)", "=> 3")
	harness.Says(t, harness.List(t, s, harness.Object{"type": "functions"}), "SHOP::APPLE ()", "SHOP::NEXT ()")
}

func TestNoRecovery(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, "--no-recovery")
	harness.Want(t, s, "(defun f () 1)", "=> F")
	harness.Kill9(t, s)
	harness.Want(t, s, "(fboundp 'f)", "=> NIL\n…--no-recovery…")
}
