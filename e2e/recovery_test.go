package e2e

import (
	"syscall"
	"testing"

	"swank-mcp/internal/await"
)

// kill9 ends the image of s and waits until it is gone.
func kill9(t *testing.T, s *server) {
	t.Helper()
	pid := imagePID(t, s)
	check(t, syscall.Kill(pid, syscall.SIGKILL))
	if await.Until(func() bool { return syscall.Kill(pid, 0) != nil }) != nil {
		t.Fatalf("process %d is still there", pid)
	}
}

// After its image has died the session is as it was but for values: the next
// reply says what came back and what did not.
func TestRecovery(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, `(defpackage :shop (:use :cl)) (in-package :shop)
(defmacro define-price (name price) `+"`(defun ,name () ,price)"+`)
(define-price apple 3)
(defvar *stock* 10) (defparameter *sum* (+ (apple) 1)) (defconstant +vat+ 19)
(defclass item () ((n :initarg :n :reader n))) (defstruct box a)
(defgeneric cost (x)) (defmethod cost ((i item)) (* (n i) (apple)))
(let ((count 0)) (defun next () (incf count)))
(dotimes (i 2) (eval `+"`(defun ,(intern (format nil \"F~d\" i)) () ,i)))"+` :ready`, "=> :READY")
	want(t, s, `(setf *stock* 3) (next) (next)`, "=> 2")
	want(t, s, `(progn (defun side () :one) (set 'cl-user::*effects* 1))`, "=> 1")
	kill9(t, s)
	says(t, want(t, s, `(list (apple) *stock* *sum* +vat+ (cost (make-instance 'item :n 2)) (make-box :a 1) (next) (f1) (side) (boundp 'cl-user::*effects*) (package-name *package*))`,
		"=> (3 10 4 19 6 #S(BOX :A 1) 1 1 :ONE NIL \"SHOP\")\n; …"), "killed by signal 9", "Restored: ", "*STOCK*")
	want(t, s, "(apple)", "=> 3")
	says(t, list(t, s, object{"type": "functions"}), "SHOP::APPLE ()", "SHOP::NEXT ()")
}

func TestNoRecovery(t *testing.T) {
	t.Parallel()
	s := start(t, "--no-recovery")
	want(t, s, "(defun f () 1)", "=> F")
	kill9(t, s)
	want(t, s, "(fboundp 'f)", "=> NIL\n…--no-recovery…")
}
