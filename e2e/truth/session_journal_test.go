package truth

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// What a session has undone does not come back with it.
func TestUndoneStaysUndone(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, `(defpackage :kept (:use :cl)) (defpackage :doomed (:use :cl))
(defun f () 1) (defun g () 2) (defmacro m () 3) (defvar *v* 4) (defvar *w* 5) (defclass c () ()) (defun u () 6)
(defun doomed::d () 7) (defun kept::k () 8) (defun back () 9) :ok`, "=> :OK")
	harness.Want(t, s, "(fmakunbound 'f) (fmakunbound 'm) (makunbound '*v*) (setf (find-class 'c) nil) (unintern 'u) (delete-package :doomed)", "=> T")
	// behind the back of what is evaluated at top level, too
	harness.Want(t, s, "(defun clean () (fmakunbound 'back)) (clean) (defun back () 10) (mapc #'makunbound '(*w*)) :ok", "=> :OK")
	before := harness.List(t, s, harness.Object{})
	harness.Kill9(t, s)
	harness.Eval(t, s, "1")
	harness.Want(t, s, "(list (fboundp 'f) (g) (fboundp 'm) (boundp '*v*) (boundp '*w*) (find-class 'c nil) (fboundp 'u) (find-package :doomed) (kept::k) (back))",
		"=> (NIL 2 NIL NIL NIL NIL NIL NIL 8 10)")
	if after := harness.List(t, s, harness.Object{}); after != before {
		t.Errorf("definitions before:\n%s\nafter:\n%s", before, after)
	}
}

// The order in which definitions are evaluated again suits both those that need
// an earlier one's newest source and those that need a later one.
func TestRecoveryInWhateverOrder(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.WantRuns(t, s,
		"(defmacro m (x) `(list :old ,x))", "(defun uses-m () (m 1))", "(defmacro m (x) `(list :new ,x))",
		"(defun f () :no-macro)", "(defmacro later () :later)", "(defun f () (later))",
		"(defvar *special* 1)", "(defun binds () (let ((*special* 2)) (reads)))", "(defun reads () *special*)", "(defvar *special* 3)",
		"(defun value () 5)", "(defparameter *computed* (value))", "(defun value () 6)",
		"(defstruct node a)", "(defun node-thing () (node-a (make-node :a 1)))", "(defstruct base x)",
		"(defpackage :p (:use :cl))", "(defun p::in-p () :p)", "(defpackage :p (:use :cl))",
	)
	harness.Kill9(t, s)
	harness.SaysNot(t, harness.Want(t, s, "(list (uses-m) (f) (binds) *computed* (node-thing) (p::in-p) (fboundp 'in-p))", "=> ((:NEW 1) :LATER 2 6 1 :P NIL)\n; …"), "Not restored")
}

// Code that was read with other reader settings is restored as it was read.
func TestRecoveryOfOtherSyntax(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(setf *read-default-float-format* 'double-float *read-base* 16)", "=> 16")
	harness.Want(t, s, "(defun syntax () (list 1.5 10)) (syntax)", "=> (1.5 16)")
	harness.Kill9(t, s)
	harness.Want(t, s, "(syntax)", "=> (1.5d0 16)\n…")
}

// Systems are known however they were loaded, and without those they needed.
func TestSystemsLoadedByCode(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.WantRuns(t, s,
		`(require :asdf) (defun fetch (name) (funcall (intern "LOAD-SYSTEM" :asdf) name)) (progn (fetch "cl-ppcre"))`,
		`(mapc #'fetch '("alexandria" "cl-ppcre"))`)
	harness.WantList(t, s, harness.Object{"type": "systems"}, "[Loaded Systems]\n- ALEXANDRIA\n- CL-PPCRE")
	harness.Kill9(t, s)
	harness.Want(t, s, `(list (funcall (intern "FLATTEN" :alexandria) '((1) 2)) (funcall (intern "SCAN" :cl-ppcre) "b" "abc"))`, "=> ((1 2) 1)\n…alexandria…")
	harness.WantList(t, s, harness.Object{"type": "systems"}, "[Loaded Systems]\n- ALEXANDRIA\n- CL-PPCRE")
}
