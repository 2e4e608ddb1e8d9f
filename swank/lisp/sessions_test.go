package lisp

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank/lisp/kept"
)

// in evaluates code in a session and returns its values, or its error's type.
func in(t *testing.T, im *Image, session, code string) string {
	t.Helper()
	res, err := im.Session(session).Evaluate(t.Context(), Request{Code: code, Timeout: callLimit, Debug: 1})
	if err != nil {
		t.Fatalf("%s: Evaluate(%q): %v", session, code, err)
	}
	if res.Failure != nil {
		return res.Failure.Type
	}
	var values []string
	for _, v := range res.Values {
		values = append(values, v.Head)
	}
	return strings.Join(values, " ")
}

// sections is what a session has defined, on one line.
func sections(t *testing.T, im *Image, session string) string {
	t.Helper()
	found, err := im.Session(session).Definitions(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, s := range found {
		all = append(all, s.Name+": "+strings.Join(s.Lines, ", "))
	}
	return strings.Join(all, "; ")
}

// Two sessions in one image share its functions and variables, as two people
// at two REPLs do; what belongs to a REPL, and to whom things belong, they do
// not share.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	for _, c := range []struct{ session, code, values string }{
		{"a", "(defpackage :pa (:use :cl)) (in-package :pa)", "#<PACKAGE \"PA\">"},
		{"b", "(package-name *package*)", `"COMMON-LISP-USER"`},
		{"b", "(make-package :pb) (+ 20 22)", "42"},
		{"a", "(package-name *package*)", `"PA"`},
		{"a", "(+ 1 1)", "2"},
		{"b", "*", "42"},
		{"a", "*", "2"},
		{"b", "(setf *print-base* 2)", "10"},
		{"a", "(list *print-base* 10)", "(10 10)"},
		{"a", "(defun fa () 1) (defvar *va* 1) (setf cl-user::loose 1)", "1"},
		{"b", "(defun fb () 1)", "FB"},
		{"b", "(pa::fa)", "1"}, // it is one image
	} {
		if got := in(t, im, c.session, c.code); got != c.values {
			t.Errorf("%s: %s = %s, want %s", c.session, c.code, got, c.values)
		}
	}
	if got, want := sections(t, im, "a"), "functions: PA::FA (); variables: LOOSE = 1, PA::*VA* = 1; packages: PA"; got != want {
		t.Errorf("a has %s, want %s", got, want)
	}
	if got, want := sections(t, im, "b"), "functions: FB (); packages: PB"; got != want {
		t.Errorf("b has %s, want %s", got, want)
	}

	t.Run("turns", func(t *testing.T) {
		done := make(chan string, 1)
		go func() {
			res, err := im.Session("a").Evaluate(t.Context(), Request{Code: "(loop until (boundp 'cl-user::*go*) do (sleep 0.01))", Timeout: callLimit, Debug: 1})
			switch {
			case err != nil:
				done <- err.Error()
			case res.Failure != nil:
				done <- res.Failure.Type
			default:
				done <- ""
			}
		}()
		for st, _ := im.Session("a").Status(t.Context()); st.Running == nil; st, _ = im.Session("a").Status(t.Context()) {
			time.Sleep(10 * time.Millisecond)
		}
		// a's evaluation ends only because b's begins while it runs
		if got := in(t, im, "b", "(setf *go* t)"); got != "T" {
			t.Errorf("b meanwhile: %s", got)
		}
		if why := <-done; why != "" {
			t.Errorf("a: %s", why)
		}
		if st, err := im.Session("b").Status(t.Context()); err != nil || st.Package != "COMMON-LISP-USER" || st.Running != nil {
			t.Errorf("status of b: %+v, %v", st, err)
		}
	})

	t.Run("reset", func(t *testing.T) {
		r, err := im.Session("a").ResetSession(t.Context(), time.Second)
		if err != nil || len(r.Problems) != 0 || !strings.Contains(strings.Join(r.Left, " "), "Another session") {
			t.Errorf("reset of a: %+v, %v", r, err)
		}
		if got := in(t, im, "b", "(list (fboundp 'fb) (find-package :pa) (package-name (find-package :pb)) (boundp 'loose) *print-base*)"); !strings.HasPrefix(got, "(#<FUNCTION FB>") || !strings.HasSuffix(got, ` NIL "PB" NIL 10)`) {
			t.Errorf("b after the reset of a: %s", got)
		}
		if got := sections(t, im, "a"); got != "" {
			t.Errorf("a has %s", got)
		}
		if got := in(t, im, "a", "(list (package-name *package*) *)"); got != `("COMMON-LISP-USER" NIL)` {
			t.Errorf("a after its reset: %s", got)
		}
	})

	t.Run("recovery", func(t *testing.T) {
		in(t, im, "a", "(defun fa () :a)")
		im.mu.Lock()
		inst := im.cur
		im.mu.Unlock()
		inst.kill("killed by the test")
		if got := in(t, im, "a", "(list (fa) (fboundp 'fb))"); got != "(:A NIL)" {
			t.Errorf("a in the new image: %s", got)
		}
		if got := in(t, im, "b", "(list (fa) (fb))"); got != "(:A 1)" {
			t.Errorf("b in the new image: %s", got)
		}
	})
}

// What a session has in the image goes when it is closed, and what it has defined stays.
func TestSessionClosed(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	facts := func() string {
		return mustEval(t, im, `(list (hash-table-count swank-mcp::*sessions*)
			(count "swank-mcp session passing" (mapcar #'sb-thread:thread-name (sb-thread:list-all-threads)) :test #'equal)
			(count "passing" swank-mcp::*handles* :key (lambda (h) (swank-mcp::session-name (swank-mcp::handle-session h))) :test #'equal)
			(length swank-mcp::*traced*) (length swank-mcp::*evaluations*))`)
	}
	before := facts()
	s := im.Session("passing")
	r := Request{Code: "(defun stays () 7)", Timeout: callLimit, Debug: 1}
	for _, code := range []string{"(defun stays () 7)", "(error \"suspended\")"} {
		r.Code, r.Suspend = code, true
		if _, err := s.Evaluate(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	r.Suspend = false
	if _, _, err := s.Inspect(t.Context(), "(list 1 2)", View{Limit: 10}, r); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SwitchTrace(t.Context(), "stays", "", true); err != nil {
		t.Fatal(err)
	}
	if during := facts(); during == before {
		t.Fatalf("there is nothing to be freed: %s", during)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := ""
	if await.Until(func() bool { after = facts(); return after == before }) != nil {
		t.Errorf("afterwards %s, before %s", after, before)
	}
	if got := mustEval(t, im, "(stays)"); got != "7" {
		t.Errorf("(stays) => %s", got)
	}
	if im.Session("passing") == s {
		t.Error("the bridge has kept it")
	}
}

// TestKeptToTheLast: the file in which a session is kept has its last definition, though no
// evaluation follows, also where there was no time for it at once.
func TestKeptToTheLast(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	path := filepath.Join(t.TempDir(), "kept.lisp")
	im.Session("default").KeepIn(kept.Open(path))
	for i := range 10 {
		in(t, im, "default", fmt.Sprintf("(defun kept-%d () %[1]d)", i))
	}
	seen := im.Subscribe(100, false)
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if st, err := im.Session("default").Status(t.Context()); err != nil || st.Running != nil {
			t.Fatalf("while it is kept it runs %+v, %v", st.Running, err)
		}
		text, _ := os.ReadFile(path)
		if strings.Contains(string(text), "(defun kept-9 ") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("kept:\n%s", text)
		}
	}
	seen.Close()
	for ev := range seen.C {
		if ev.Job != 0 {
			t.Errorf("told of %s %q, which nobody has asked for", ev.Kind, ev.Text)
		}
	}
}
