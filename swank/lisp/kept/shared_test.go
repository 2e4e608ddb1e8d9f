package kept

import (
	"errors"
	"os"
	"strings"
	"testing"

	"swank-mcp/swank/lisp/journal"
)

// Several servers have a session one after the other. Each begins with what the one before
// has written, all of it; one that has lost the session changes nothing for the next.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	session := func(names ...string) *journal.Journal {
		j := &journal.Journal{Package: "COMMON-LISP-USER"}
		for _, name := range names {
			j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . " + name + ")"}, Text: "(defun " + name + " () 1)", Package: "COMMON-LISP-USER"})
		}
		return j
	}
	var owner int
	errLost := errors.New("another server has the session")
	open := func(term int) *File {
		t.Helper()
		owner = term
		k, err := OpenShared(dir, term, func() error {
			if owner != term {
				return errLost
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	left := func(k *File, want ...string) {
		t.Helper()
		if len(want) == 0 {
			if k.Left().Path != "" {
				t.Errorf("left: %+v", k.Left())
			}
			return
		}
		text, err := k.Read()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(text, "(defun "+w+" ") {
				t.Errorf("%s is not in what was left:\n%s", w, text)
			}
		}
		if got := strings.Count(text, "(defun "); got != len(want) {
			t.Errorf("%d definitions, want %v:\n%s", got, want, text)
		}
	}

	a := open(1)
	left(a)
	for i := range 20 { // each at once, though they follow each other quickly
		a.Keep(session("A", string(rune('a'+i))), true, false)
		text, err := os.ReadFile(termFile(dir, 1))
		if err != nil || !strings.Contains(string(text), "(defun "+string(rune('a'+i))+" ") {
			t.Fatalf("change %d is not on the disk: %v\n%s", i, err, text)
		}
	}
	a.Keep(session("A", "B"), true, false)

	b := open(2)
	left(b, "A", "B")
	a.Keep(session("LATE"), true, true)
	if a.Problem() != errLost.Error() {
		t.Errorf("the one that has lost it: %q", a.Problem())
	}
	// As one does that stood still between asking and writing.
	if err := os.WriteFile(termFile(dir, 1)+".tmp", []byte("(defun later () 1)"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(termFile(dir, 1)+".tmp", termFile(dir, 1)); err != nil {
		t.Fatal(err)
	}
	left(b, "A", "B")
	b.Keep(session("A"), true, true) // before all was brought back
	left(b, "A", "B")                // which is still there

	c := open(3)
	left(c, "A")
	c.Keep(session(), true, true) // reset
	if c.Problem() != "" {
		t.Error(c.Problem())
	}
	left(open(7)) // not what was there before the reset
	if _, err := os.Stat(termFile(dir, 1)); err == nil {
		t.Error("old terms stay")
	}
	owner = 0
	if _, err := OpenShared(dir, 8, func() error { return errLost }); !errors.Is(err, errLost) {
		t.Errorf("opened by another: %v", err)
	}
}

// A server that had the directory for itself leaves its session to those that share it.
func TestSharedAfterAlone(t *testing.T) {
	dir := t.TempDir()
	alone := Open(dir + "/session.lisp")
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "(defun f () 1)", Package: "COMMON-LISP-USER"})
	alone.Keep(j, true, true)
	alone.Close()
	k, err := OpenShared(dir, 1, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if text, err := k.Read(); err != nil || !strings.Contains(text, "(defun f ") {
		t.Errorf("%v %s", err, text)
	}
}

// What servers that shared the directory have left is found by one that has it for itself, and
// what that leaves by those that share it again.
func TestAloneAfterShared(t *testing.T) {
	dir := t.TempDir()
	keep := func(k *File, name string) {
		t.Helper()
		j := &journal.Journal{Package: "COMMON-LISP-USER"}
		j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "(defun " + name + " () 1)", Package: "COMMON-LISP-USER"})
		k.Keep(j, true, true)
		if k.Problem() != "" {
			t.Fatal(k.Problem())
		}
		k.Close()
	}
	has := func(k *File, name string) {
		t.Helper()
		if text, err := k.Read(); err != nil || !strings.Contains(text, "(defun "+name+" ") {
			t.Errorf("%s is not in it: %v %s", name, err, text)
		}
	}
	alone := func() *File {
		t.Helper()
		if err := Unshare(dir); err != nil {
			t.Fatal(err)
		}
		return Open(dir + "/session.lisp")
	}
	keep(alone(), "first")
	for i, name := range []string{"two", "ten"} {
		k, err := OpenShared(dir, 2+8*i, func() error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		keep(k, name)
	}
	// As where servers could not remove it.
	if err := os.WriteFile(termFile(dir, 2), []byte("(defun stays () 1)"), 0o600); err != nil {
		t.Fatal(err)
	}
	k := alone()
	has(k, "ten")
	keep(k, "alone")
	k = alone() // nothing is shared any more
	has(k, "alone")
	k.Close()
	if k, err := OpenShared(dir, 11, func() error { return nil }); err != nil {
		t.Error(err)
	} else {
		has(k, "alone")
	}
	if err := Unshare(dir + "/none"); err != nil {
		t.Error(err)
	}
}

// A file that could not be written is written with the next call, though nothing has changed
// since, and says why until then.
func TestKeptAgain(t *testing.T) {
	dir := t.TempDir()
	k := Open(dir + "/session.lisp")
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "(defun f () \"" + strings.Repeat("x", maxBytes) + "\")", Package: "COMMON-LISP-USER"})
	k.Keep(j, true, true)
	if k.Failed() == "" || k.Failed() != k.Problem() {
		t.Errorf("too large: %q, %q", k.Failed(), k.Problem())
	}
	j.Undefine("(:FUNCTION . F)")
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . G)"}, Text: "(defun g () 1)", Package: "COMMON-LISP-USER"})
	k.Keep(j, false, true)
	if text, err := os.ReadFile(dir + "/session.lisp"); err != nil || !strings.Contains(string(text), "(defun g ") || k.Failed() != "" {
		t.Errorf("again: %v, %q, %s", err, k.Failed(), text)
	}
}
