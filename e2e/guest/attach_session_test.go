package guest

import (
	"testing"

	"swank-mcp/e2e/harness"
)

// Two servers in one person's image, each with a session of its own: two REPLs
// in one Lisp.
func TestTwoSessionsOfOneImage(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*theirs* 20)")
	a, b := harness.Attached(t, p, "--session", "a"), harness.Attached(t, p, "--session", "b")
	harness.Want(t, a, "(defpackage :pa (:use :cl)) (in-package :pa) (defun fa () :a) (setf *print-base* 2)", "=> 10")
	harness.Want(t, b, "(list (package-name *package*) (pa::fa) 10)", `=> ("COMMON-LISP-USER" :A 10)`)
	harness.Want(t, b, "(defconstant +b+ 1) (defun fb () :b) :done", "=> :DONE")
	harness.Want(t, a, "*", "=> 10")
	harness.Want(t, b, "*", "=> :DONE")
	harness.WantList(t, a, harness.Object{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
	harness.WantList(t, b, harness.Object{}, "[Functions]\n- FB ()\n\n[Constants]\n- +B+ = 1")

	// One evaluates while the other does, and ends it.
	waiting := harness.Running(t, a, "(loop until (boundp 'cl-user::*go*) do (sleep 0.01))")
	harness.Want(t, b, "(setf *go* t)", "=> T")
	harness.WantAnswer(t, waiting, "…")

	// What a session defined is undefined, and nothing of the other's.
	harness.WantReply(t, b, "reset-session", harness.Object{}, harness.ResetText+"\n; The image is not ours…+B+…")
	p.Wants("(list *theirs* (fboundp 'fb) (pa::fa))", "(20 NIL :A)")
	harness.Want(t, a, "(list (fa) 10)", "=> (:A 1010)")
	harness.WantList(t, a, harness.Object{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
}
