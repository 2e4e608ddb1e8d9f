package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"swank-mcp/swank/lisp/journal"
)

// TestKept: a server keeps its session beside what the one before has left, one
// server at a time, within bounds, for nobody else's eyes.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state", "x.lisp")
	session := func(name string, n int) *journal.Journal {
		j := &journal.Journal{Package: "COMMON-LISP-USER"}
		for i := range n {
			key := fmt.Sprintf("%s%d", name, i)
			j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . " + key + ")"}, Text: "(defun " + key + " () 1)", Package: "COMMON-LISP-USER"})
		}
		return j
	}
	text := func(path string) string {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}

	a := Open(path)
	a.Keep(session("A", 0), true, true)
	if a.Left().Path != "" || a.Problem() != "" {
		t.Errorf("at first: %+v, %s", a.Left(), a.Problem())
	}
	if _, err := os.Stat(filepath.Dir(path)); err == nil {
		t.Error("a directory for nothing")
	}
	a.Keep(session("A", 2), true, true)
	if !strings.Contains(text(path), "(defun A1 () 1)") {
		t.Errorf("kept:\n%s", text(path))
	}
	a.took = time.Hour
	if later := a.Keep(session("A", 3), true, false); later < time.Hour || strings.Contains(text(path), "A2") {
		t.Errorf("with no time for it: kept again after %v, %s", later, text(path))
	}
	if later := a.Keep(session("A", 2), false, true); later != 0 {
		t.Errorf("now: after %v", later)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}

	b := Open(path) // while a lives
	b.Keep(session("B", 1), true, true)
	if b.Left().Path != "" || b.Problem() == "" || strings.Contains(text(path), "B0") {
		t.Errorf("beside it: %+v, %q, %s", b.Left(), b.Problem(), text(path))
	}
	a.lock.Close() // it ends

	c := Open(path)
	if left := c.Left(); left.Path != path || left.Summary != "2 definitions" {
		t.Errorf("left: %+v", left)
	}
	c.Keep(session("C", 1), true, true)
	left, err := c.Read()
	if err != nil || !strings.Contains(left, "A1") || !strings.Contains(text(path), "C0") {
		t.Errorf("left: %v %s; kept: %s", err, left, text(path))
	}
	big := session("C", 1)
	big.Add(&journal.Entry{Keys: []string{"(:FUNCTION . BIG)"}, Text: "(defun big () \"" + strings.Repeat("x", maxBytes) + "\")", Package: "COMMON-LISP-USER"})
	c.Keep(big, true, true)
	if c.Problem() == "" || !strings.Contains(text(path), "C0") {
		t.Errorf("too large: %q", c.Problem())
	}
	c.Keep(session("C", 0), true, true) // reset
	c.Keep(session("C", 0), true, true)
	if c.Problem() != "" {
		t.Errorf("after two resets: %s", c.Problem())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a session that was reset is kept")
	}
	c.Keep(session("C", 3), true, true)
	if !strings.Contains(text(path), "C2") || c.Problem() != "" {
		t.Errorf("after a reset: %s, %s", c.Problem(), text(path))
	}
}
