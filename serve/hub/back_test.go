package hub

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/tier"
	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// keeping is a hub whose sessions are kept in dir, with their images where autosave says so.
func keeping(t *testing.T, dir string, autosave bool) *Hub {
	t.Helper()
	return testHub(t, Options{Make: func(id ID, newID func() string) (*Work, error) {
		cores, err := kept.CoresIn(filepath.Join(dir, id.Name), filepath.Join(dir, "keys"))
		if err != nil {
			return nil, err
		}
		c := lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, Cores: cores, Autosave: autosave}
		if autosave {
			c.Resume = kept.Last
		}
		im, left := lisp.New(c), kept.Open(filepath.Join(dir, id.Name, "session.lisp"))
		im.Session(mcpbridge.DefaultSession).KeepIn(left)
		return &Work{Image: im, Session: mcpbridge.DefaultSession, Kept: left, Bridge: mcpbridge.New(mcpbridge.Options{
			Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID, Kept: left})}, nil
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
		autosave   bool
		code, want string
	}{
		{true, `(progn (defpackage :p (:use :cl)) (defparameter *n* 1) (setf *n* (make-hash-table)))`, ""},
		{true, `(progn (setf (gethash 1 *n*) 2) (let ((c 0)) (defun next () (incf c))))`, ""},
		{true, `(list (gethash 1 *n*) (next) (next))`, "(2 1 2)"},
		{false, `(list *n* (next) (defun later () 3))`, "(1 1 LATER)"},
		{true, `(list (gethash 1 *n*) (next) (later))`, "(2 3 3)"},
	} {
		h := keeping(t, dir, c.autosave)
		if got := evaluate(t, h, "x", c.code); c.want != "" && got != c.want {
			t.Errorf("%s is %s, want %s", c.code, got, c.want)
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
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . A)"}, Text: "(defun a () 1)", Package: "COMMON-LISP-USER"})
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . B)"}, Text: `(progn (open "` + begun + `" :direction :output :if-exists :supersede) (sleep 3600) (defun b () 2))`, Package: "COMMON-LISP-USER"})
	before := kept.Open(file)
	before.Keep(j, true, true)
	before.Close()
	want, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(want), "defun b") {
		t.Fatal(err, string(want))
	}

	h := keeping(t, dir, false)
	s, err := h.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan error, 1)
	leave := s.Enter()
	go func() {
		defer leave()
		over <- s.Wake(t.Context())
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(begun); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing is brought back")
		}
	}
	h.Close()
	<-over
	if got, err := os.ReadFile(file); err != nil || string(got) != string(want) {
		t.Errorf("now the file has %v:\n%s", err, got)
	}
}
