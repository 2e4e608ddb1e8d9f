//go:build unix

package hub

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/internal/tier"
	"swank-mcp/mcpbridge"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// keeping is a hub whose sessions are kept in dir. Their images go on from those on the disk with
// resume, and are saved there with save.
func keeping(t *testing.T, dir string, resume, save bool) *Hub {
	t.Helper()
	return testHub(t, Options{Make: func(id ID, newID func() string) (*Work, error) {
		cores, err := kept.CoresIn(nil, filepath.Join(dir, id.Name), filepath.Join(dir, "keys"))
		if err != nil {
			return nil, err
		}
		c := lisp.Config{Launch: launch.Config{NoUserInit: true}, Cores: cores, Autosave: save}
		if resume {
			c.Resume = kept.Last
		}
		im, left := lisp.New(c), kept.Open(filepath.Join(dir, id.Name, "session.lisp"))
		im.Session(mcpbridge.DefaultSession).KeepIn(left)
		return &Work{Image: im, Session: mcpbridge.DefaultSession, Kept: left, Bridge: bridgeOf(im, newID, left)}, nil
	}})
}

// A session whose image was saved to the disk comes back with its values: what was kept of it
// as source is not evaluated again, but for what is in no image.
func TestBackWithValues(t *testing.T) {
	tier.More(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		resume, save bool
		code, want   string // of several evaluations, one a line
	}{
		{false, true, `(progn (defpackage :p (:use :cl)) (defparameter *n* 1) (setf *n* (make-hash-table)) 0)`, "0"},
		{true, true, "(progn (setf (gethash 1 *n*) 2) (let ((c 0)) (defun next () (incf c))))\n(list (gethash 1 *n*) (next) (next))", "NEXT\n(2 1 2)"},
		{false, false, `(list *n* (next) (defun later () 3))`, "(1 1 LATER)"},
		{true, false, `(list (gethash 1 *n*) (next) (later))`, "(2 3 3)"},
	} {
		h := keeping(t, dir, c.resume, c.save)
		want := strings.Split(c.want, "\n")
		for i, code := range strings.Split(c.code, "\n") {
			if got := evaluate(t, h, "x", code); got != want[i] {
				t.Errorf("%s is %s, want %s", code, got, want[i])
			}
		}
		h.Close()
	}
}

// Where bringing a session back is broken off, because the server ends, the next one has all
// of it.
func TestBackBrokenOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "x", "session.lisp")
	begun := filepath.Join(dir, "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . A)"}, Text: "(defun a () 1)", Package: "COMMON-LISP-USER"})
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . B)"}, Text: `(progn (open "` + begun + `" :direction :output :if-exists :overwrite) (sleep 3600) (defun b () 2))`, Package: "COMMON-LISP-USER"})
	before := kept.Open(file)
	before.Keep(j, true, true)
	before.Close()
	want, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(want), "defun b") {
		t.Fatal(err, string(want))
	}

	h := keeping(t, dir, false, false)
	s := named(t, h, "x")
	over := make(chan error, 1)
	leave := s.Enter()
	go func() {
		defer leave()
		over <- s.Wake(t.Context())
	}()
	came := make(chan error, 1)
	go func() {
		f, err := os.Open(begun) // waits for the image
		came <- cmp.Or(err, f.Close())
	}()
	ended := over
	for waiting := true; waiting; {
		select {
		case err := <-came:
			if err != nil {
				t.Fatal(err)
			}
			waiting = false
		case err := <-ended:
			if err != nil {
				t.Fatalf("nothing is brought back: %v", err)
			}
			ended = nil // on a slow machine it goes on in the session's queue
		}
	}
	h.Close()
	if ended != nil {
		<-ended
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("now the file has %v:\n%s", err, got)
	}
}
