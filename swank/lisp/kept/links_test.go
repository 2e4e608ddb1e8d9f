//go:build unix

package kept

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/files"
	"swank-mcp/swank/lisp/journal"
)

// keptText is what a session is kept as.
const keptText = ";;;; x -*- mode: lisp -*-\n;;;; A Lisp session, saved by swank-mcp on 2026-01-02 UTC: 1 definition.\n(defun f () 1)\n"

func one(name string) *journal.Journal {
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . " + name + ")"}, Text: "(defun " + name + " () 1)", Package: "COMMON-LISP-USER"})
	return j
}

// Of a link, a pipe, a device or a file that is too large, nothing is taken for what a server
// has left, whenever it has come there; the session is kept all the same.
func TestKeptIsNoLink(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(path, secret string) error{
		"a link":          func(path, secret string) error { return os.Symlink(secret, path) },
		"a dangling link": func(path, _ string) error { return os.Symlink("nowhere", path) },
		"a device":        func(path, _ string) error { return os.Symlink("/dev/zero", path) },
		"a pipe":          func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"a large file": func(path, _ string) error {
			return errors.Join(os.WriteFile(path, []byte(keptText), 0o600), os.Truncate(path, maxBytes+1))
		},
	} {
		dir := t.TempDir()
		secret := filepath.Join(dir, "secret")
		path := filepath.Join(dir, "session.lisp")
		if err := errors.Join(os.WriteFile(secret, []byte(keptText), 0o600), os.WriteFile(path, []byte(keptText), 0o600)); err != nil {
			t.Fatal(err)
		}
		replaced := Open(path)
		if replaced.Left().Path != path {
			t.Fatalf("left: %+v", replaced.Left())
		}
		if err := errors.Join(os.Remove(path), put(path, secret)); err != nil {
			t.Fatal(err)
		}
		await.Do(t, what, func() {
			if text, err := replaced.Read(); err == nil {
				t.Errorf("%s: read as what was left: %d bytes", what, len(text))
			}
			replaced.Close()
			k := Open(path)
			defer k.Close()
			if left := k.Left(); left.Path != "" {
				t.Errorf("%s is what was left: %+v", what, left)
			}
			k.Keep(one("G"), true, true)
			if text, err := os.ReadFile(path); k.Problem() != "" || err != nil || !strings.Contains(string(text), "(defun G ") {
				t.Errorf("%s: not kept: %s, %v", what, k.Problem(), err)
			}
		})
		if text, err := os.ReadFile(secret); err != nil || string(text) != keptText {
			t.Errorf("%s: where it leads is %q, %v", what, text, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
			t.Errorf("%s: made where it leads", what)
		}
	}
}

// So it is of a session that several servers share: who would own it is told why it is not.
func TestSharedIsNoLink(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(path string) error{
		"a link": func(path string) error { return os.Symlink("secret", path) },
		"a pipe": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "secret"), []byte(keptText), 0o600), put(termFile(dir, 1))); err != nil {
			t.Fatal(err)
		}
		await.Do(t, what, func() {
			if k, err := OpenShared(dir, 2, func() error { return nil }); !errors.Is(err, files.ErrNotPlain) {
				t.Errorf("%s: %+v, %v", what, k, err)
			}
		})
	}
}

// A lock that is a link locks and makes no other file, and the session says that it is not kept.
func TestLockIsNoLink(t *testing.T) {
	t.Parallel()
	for what, put := range map[string]func(path string) error{
		"a link":          func(path string) error { return os.Symlink("other", path) },
		"a dangling link": func(path string) error { return os.Symlink("nowhere", path) },
		"a pipe":          func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "session.lisp")
		if err := errors.Join(os.WriteFile(filepath.Join(dir, "other"), nil, 0o600), put(path+".lock")); err != nil {
			t.Fatal(err)
		}
		await.Do(t, what, func() {
			k := Open(path)
			defer k.Close()
			k.Keep(one("F"), true, true)
			if !strings.Contains(k.Problem(), "move it away") {
				t.Errorf("%s: %q", what, k.Problem())
			}
		})
		if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
			t.Errorf("%s: made where it leads", what)
		}
	}
}

// A link to the cores of another session, or to one of them, makes these not this one's, though
// the same server has saved them.
func TestCoresAreNoLinks(t *testing.T) {
	t.Parallel()
	keys, theirs, mine := t.TempDir(), t.TempDir(), t.TempDir()
	c, _ := CoresIn(nil, theirs, keys)
	saveTest(t, c, "secret", 0, 10)
	if err := os.Symlink(filepath.Join(theirs, CoresDir), filepath.Join(mine, CoresDir)); err != nil {
		t.Fatal(err)
	}
	linked, _ := CoresIn(nil, mine, keys)
	if core, err := linked.Find("secret"); err == nil || !strings.Contains(err.Error(), "move it away") || len(linked.List()) > 0 {
		t.Errorf("through a link to the directory: %+v, %v, %v", core, err, linked.List())
	}

	mine = t.TempDir()
	own, _ := CoresIn(nil, mine, keys)
	saveTest(t, own, "own", 0, 10)
	from, to := filepath.Join(theirs, CoresDir), filepath.Join(mine, CoresDir)
	if err := errors.Join(os.Symlink(from+"/secret.json", to+"/secret.json"), os.Symlink(from+"/secret.core", to+"/secret.core")); err != nil {
		t.Fatal(err)
	}
	if core, err := own.Find("secret"); !errors.Is(err, ErrForeign) || names(own) != "own" {
		t.Errorf("by a link to what says what it is: %+v, %v, %s", core, err, names(own))
	}
	if err := errors.Join(os.Remove(to+"/own.core"), os.Symlink(from+"/secret.core", to+"/own.core")); err != nil {
		t.Fatal(err)
	}
	if core, err := own.Find("own"); err == nil {
		t.Errorf("by a link to the core: %+v", core)
	}
	if err := syscall.Mkfifo(to+"/pipe.json", 0o600); err != nil {
		t.Fatal(err)
	}
	await.Do(t, "a pipe", func() {
		if core, err := own.Find("pipe"); !errors.Is(err, ErrForeign) {
			t.Errorf("a pipe: %+v, %v", core, err)
		}
	})
	if _, err := own.Find("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is none: %v", err)
	}
}

// Who writes the file of a core can put a link there: where it leads is left as it is.
func TestSavedThroughALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	c, _ := CoresIn(nil, filepath.Join(dir, "sessions"), t.TempDir())
	err := c.Save(t.Context(), &Core{Name: "x", Time: time.Now()}, "", func(file string, _ Opener) error { return os.Symlink(program, file) })
	if err == nil {
		t.Error("saved")
	}
	if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
}
