package guest

import (
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// A reset undoes what the session has made, and nothing of the person's.
func TestAttachedReset(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, `(defpackage :their-user (:use :cl)) (defvar cl-user::*theirs* 1) (defun cl-user::their-function () 1)`)
	s := harness.Attached(t, p)
	// 1 while an evaluation of ours runs, the person goes on working
	gate := await.NewGate(t)
	pending := harness.SendCall(t, s, "(defpackage :ours (:use :cl)) (make-package \"OURS-TOO\") "+gate.Wait())
	gate.Reached(s)
	p.Says("(defpackage :made-meanwhile (:use :cl))")
	p.Says("(make-package \"MADE-MEANWHILE-TOO\")")
	p.Says("(defvar *made-meanwhile* 1)")
	gate.Open()
	harness.Answer(t, pending)
	harness.Want(t, s, "(defvar *theirs* 2) *theirs*", "=> 1")
	harness.Want(t, s, `(defun our-function () 1) (defparameter *ours* 1) (defparameter *taken* 1) (setf *loose* 1) (defconstant +ours+ 1)
(defclass our-class () ()) (defmethod their-generic ((x our-class)) 1) (in-package :ours) (defun cl-user::our-second () 2) 1`, "=> 1")
	p.Says("(defparameter *taken* 2)")
	p.Says("(use-package :ours-too :their-user)")
	got := harness.Call(t, s, "reset-session", harness.Object{}).Text()
	harness.Says(t, got, "Session reset. All definitions cleared.\nCurrent package: CL-USER\n",
		"; Not undone: package OURS-TOO: THEIR-USER uses it", "the constants +OURS+ keep their values", "symbols stay interned and use-lists as they are")
	for code, want := range map[string]string{
		"(list (fboundp 'our-function) (boundp '*ours*) (boundp '*loose*) (find-class 'our-class nil) (fboundp 'our-second) (find-package :ours))": "(NIL NIL NIL NIL NIL NIL)",
		"(sort (mapcar #'package-name (package-use-list :their-user)) #'string<)":                                                                  `("COMMON-LISP" "OURS-TOO")`,
		"(list *theirs* *taken* *made-meanwhile* (their-function) +ours+)":                                                                         "(1 2 1 1 1)",
		"(mapcar (lambda (n) (and (find-package n) t)) '(:made-meanwhile :made-meanwhile-too :their-user))":                                        "(T T T)",
		"(symbol-package (find-symbol \"OUR-FUNCTION\" :cl-user))":                                                                                 `#<PACKAGE "COMMON-LISP-USER">`,
	} {
		p.Wants(code, want)
	}
}
