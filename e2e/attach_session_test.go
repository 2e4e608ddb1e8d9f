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
	t.Parallel()
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

	// What a session defined is undefined, and nothing of the other's.
	r = call(t, b, patience, "reset-session", map[string]any{})
	if r.IsError || !strings.HasPrefix(r.Text(), resetText+"\n; The image is not ours") || !strings.Contains(r.Text(), "+B+") {
		t.Errorf("reset of b:\n%s", r.Text())
	}
	if got := p.says("(list *theirs* (fboundp 'fb) (pa::fa))"); got != "(20 NIL :A)" {
		t.Errorf("the person sees %s", got)
	}
	want(t, a, "(list (fa) 10)", "=> (:A 1010)")
	wantList(t, a, map[string]any{}, "[Functions]\n- PA::FA ()\n\n[Packages]\n- PA")
}
