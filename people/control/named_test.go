package control

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/people/transcript"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/launch"
)

// A session that has ended is not taken for the only one that is left; who names none gets
// that one.
func TestEndedSessionIsNotAnother(t *testing.T) {
	dir := filepath.Join(shortDir(t), "run")
	im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
	tr := transcript.New(transcript.Options{})
	s, err := Serve(Options{Image: im, Transcript: tr, Dirs: []string{dir}, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tr.Close(context.Background())
		s.Close(context.Background())
		im.Close(context.Background())
	})
	c := only(t, dir)
	eval := func(session, code string) error { _, err := c.Evaluate(t.Context(), session, code); return err }
	refused := func(err error, words ...string) {
		t.Helper()
		if err == nil || slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(err.Error(), w) }) {
			t.Errorf("%v does not say %q", err, words)
		}
	}
	refused(eval("B", "(defvar *x* 0)"), "nothing was evaluated yet")
	im.Session("A") // a client has it, and has not evaluated in it
	im.Session("B")
	for _, name := range []string{"A", "B"} {
		if err := eval(name, "(defvar cl-user::*"+name+"* 1)"); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := im.Sessions(), []string{"A", "B"}; !slices.Equal(got, want) {
		t.Fatalf("the sessions are %v", got)
	}
	if err := im.Session("B").Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	refused(eval("B", "(setf cl-user::*a* 'wrong)"), "no session is called B", "there is A")
	_, err = c.Undo(t.Context(), "B", 1)
	refused(err, "no session is called B", "there is A")
	_, err = c.Contents(t.Context(), "B")
	refused(err, "no session is called B")
	_, err = c.Frame(t.Context(), "B", 1, 0)
	refused(err, "no session is called B")
	_, err = c.Restart(t.Context(), "B", 1, "0", "")
	refused(err, "no session is called B")
	for _, name := range []string{"", "default", "A"} {
		a, err := c.Evaluate(t.Context(), name, "cl-user::*a*")
		if err != nil || a.Session != "A" || !slices.Equal(a.Values, []string{"1"}) {
			t.Errorf("in %q: %+v, %v", name, a, err)
		}
	}
}
