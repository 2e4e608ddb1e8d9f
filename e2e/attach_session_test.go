package e2e

import "testing"

// Two servers in one person's image, each with a session of its own: two REPLs
// in one Lisp.
func TestTwoSessionsOfOneImage(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "(defvar cl-user::*theirs* 20)")
	a, b := attached(t, p, "--session", "a"), attached(t, p, "--session", "b")
	want(t, a, "(defpackage :pa (:use :cl)) (in-package :pa) (defun fa () :a) (setf *print-base* 2)", "=> 10")
	want(t, b, "(list (package-name *package*) (pa::fa) 10)", `=> ("COMMON-LISP-USER" :A 10)`)
	want(t, b, "(defconstant +b+ 1) (defun fb () :b) :done", "=> :DONE")
	want(t, a, "*", "=> 10")
	want(t, b, "*", "=> :DONE")
	wantList(t, a, object{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
	wantList(t, b, object{}, "[Functions]\n- FB ()\n\n[Constants]\n- +B+ = 1")

	// One evaluates while the other does, and ends it.
	waiting := running(t, a, "(loop until (boundp 'cl-user::*go*) do (sleep 0.01))")
	want(t, b, "(setf *go* t)", "=> T")
	wantAnswer(t, waiting, "…")

	// What a session defined is undefined, and nothing of the other's.
	wantReply(t, b, "reset-session", object{}, resetText+"\n; The image is not ours…+B+…")
	p.wants("(list *theirs* (fboundp 'fb) (pa::fa))", "(20 NIL :A)")
	want(t, a, "(list (fa) 10)", "=> (:A 1010)")
	wantList(t, a, object{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
}
