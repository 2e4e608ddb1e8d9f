package e2e

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

// Two servers in one person's image, each with a session of its own: two REPLs
// in one Lisp.
func TestTwoSessionsOfOneImage(t *testing.T) {
	p := newPerson(t, "(defvar cl-user::*theirs* 20)")
	a, b := attached(t, p, "--session", "a"), attached(t, p, "--session", "b")
	want(t, a, "(defpackage :pa (:use :cl)) (in-package :pa) (defun fa () :a) (setf *print-base* 2)", "=> 10")
	want(t, b, "(list (package-name *package*) (pa::fa) 10)", `=> ("COMMON-LISP-USER" :A 10)`)
	want(t, b, "(defconstant +b+ 1) (defun fb () :b) :done", "=> :DONE")
	want(t, a, "*", "=> 10")
	want(t, b, "*", "=> :DONE")
	wantList(t, a, map[string]any{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
	wantList(t, b, map[string]any{}, "[Functions]\n- FB ()\n\n[Constants]\n- +B+ = 1")

	// One evaluates while the other does, and ends it.
	waiting, err := a.GoTool("evaluate-lisp", map[string]any{"code": "(loop until (boundp 'cl-user::*go*) do (sleep 0.01))"}, wire.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	want(t, b, "(setf *go* t)", "=> T")
	var r wire.Result
	if err := waiting.Wait(t.Context(), &r); err != nil || r.IsError {
		t.Errorf("the waiting evaluation: %v, %s", err, r.Text())
	}

	// What a session defined is undefined; what may be others' by now is left,
	// and named.
	r = call(t, b, patience, "reset-session", map[string]any{})
	if r.IsError || r.Text() != resetText+"\n; Left as they are: symbols, the constants +B+: the image is not the session's alone" {
		t.Errorf("reset of b:\n%s", r.Text())
	}
	r = call(t, a, patience, "reset-session", map[string]any{})
	if r.IsError || !strings.Contains(r.Text(), "Left as they are: symbols, the packages PA: ") {
		t.Errorf("reset of a:\n%s", r.Text())
	}
	if got := p.says("(list *theirs* (fboundp 'fb) (fboundp 'pa::fa) (not (find-symbol \"FB\")))"); got != "(20 NIL NIL NIL)" {
		t.Errorf("the person sees %s", got)
	}
}
