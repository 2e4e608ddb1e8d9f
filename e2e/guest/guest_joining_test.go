package guest

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
)

// A server that comes into a session which is there already says what it found and
// who else is there; the other is told, and told of a reset.
func TestGuestJoins(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	first := harness.Attached(t, p)
	harness.Want(t, first, "(defpackage :first (:use :cl)) (in-package :first) (defun f (x) x) (setf *print-base* 16)", "=> 10")
	second := harness.Attached(t, p)
	for _, c := range []struct {
		s    *harness.Server
		code string // "" is reset-session
		want []string
		not  string
	}{
		{second, "(+ 10 2)", []string{"=> C\n", `; The session "default" was in this image before: its package is FIRST, *PRINT-BASE* is 16, it has 1 definition. reset-session makes it as new.`,
			`; Another server (wire 1) works in the session "default", too. Both see and reset what either defines; --session NAME gives a server one of its own.`}, ""},
		{second, "(+ 10 2)", []string{"=> C"}, ";"},
		{first, "(+ 10 2)", []string{`; Another server (wire 1 #2) works in this session, "default", now.`}, "before"},
		{first, "(+ 10 2)", []string{"=> C"}, ";"},
		{second, "", []string{"Session reset."}, "Another"},
		{first, "(+ 10 2)", []string{"=> 12\n", `; Another server (wire 1 #2) has reset this session, "default", and with it 1 definition.`}, ""},
		{second, "(+ 10 2)", []string{"=> 12"}, ";"},
	} {
		var got string
		if c.code == "" {
			got = harness.Good(t, c.s, "reset-session", harness.Object{})
		} else {
			got, _ = harness.Eval(t, c.s, c.code)
		}
		harness.Says(t, got, c.want...)
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%s answered\n%s\nwith %q", c.code, got, c.not)
		}
	}
	third := harness.Attached(t, p, "--session", "third")
	harness.Want(t, third, "(+ 10 2)", "=> 12")
	first.Close(await.Ceiling)
	second.Close(await.Ceiling)
	harness.Want(t, harness.Attached(t, p), "(+ 10 2)", "=> 12")
}
