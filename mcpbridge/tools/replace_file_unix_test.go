//go:build unix

package tools

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// in opens a directory with one file in it.
func in(t *testing.T, text string) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "a.lisp")
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, path
}

// has checks that the file is the only one in its directory, with that text.
func has(t *testing.T, path, text string) {
	t.Helper()
	if now, err := os.ReadFile(path); err != nil || string(now) != text {
		t.Errorf("the file has %.40q, %v; want %.40q", now, err, text)
	}
	if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) != 1 {
		t.Errorf("beside the file is something: %v, %v", all, err)
	}
}

func TestReplaceIn(t *testing.T) {
	root, path := in(t, "(a)")
	if err := replaceIn(root, "a.lisp", "(a)", "(b)"); err != nil {
		t.Fatal(err)
	}
	has(t, path, "(b)")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its permissions are %v, %v", info.Mode(), err)
	}
	if err := replaceIn(root, "a.lisp", "(a)", "(c)"); !errors.Is(err, errChanged) {
		t.Errorf("another text than was read is replaced: %v", err)
	}
	has(t, path, "(b)")
}

// TestReplaceOnFullDisk: where there is no room, the file is as it was.
func TestReplaceOnFullDisk(t *testing.T) {
	root, path := in(t, "(a)")
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	small := limit
	small.Cur = 1000 // of a file: what is longer fails as on a full disk
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		t.Fatal(err)
	}
	err := replaceIn(root, "a.lisp", "(a)", strings.Repeat("(b)\n", 1000))
	if e := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); e != nil {
		t.Fatal(e)
	}
	if err == nil {
		t.Error("4,000 bytes were written where there was room for 1,000")
	}
	has(t, path, "(a)")
}

func TestWithin(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"project/src", "other"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"project/src/a.lisp": "", "other/b.lisp": "", "link": "project", "project/out": "../other", "project/b.lisp": "../other/b.lisp", "project/a.lisp": "src/a.lisp"} {
		var err error
		if path := filepath.Join(dir, name); to == "" {
			err = os.WriteFile(path, nil, 0o600)
		} else {
			err = os.Symlink(to, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"project/src/a.lisp": "src/a.lisp", "project/a.lisp": "src/a.lisp", "link/src/a.lisp": "src/a.lisp",
		"project/src/../src/a.lisp": "src/a.lisp", "other/b.lisp": "", "project/b.lisp": "", "project/out/b.lisp": "", "project/../other/b.lisp": "",
	} {
		root, name, err := within([]string{filepath.Join(dir, "nowhere"), filepath.Join(dir, "link")}, filepath.Join(dir, path))
		if err != nil || (root == nil) != (want == "") || root != nil && name != want {
			t.Errorf("%s: %v, %q, %v; want %q", path, root, name, err, want)
		}
		if root != nil {
			root.Close()
		}
	}
}
