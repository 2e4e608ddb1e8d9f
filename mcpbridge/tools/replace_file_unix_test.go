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

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/args"
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

// A file that is mended through a link, of the file or of the project, is mended where it lies, and the
// link stays one.
func TestRepairThroughALink(t *testing.T) {
	_, path := in(t, "(a")
	dir := filepath.Dir(path)
	outer := t.TempDir()
	for _, c := range []struct{ link, to, named string }{
		{filepath.Join(dir, "link.lisp"), "a.lisp", filepath.Join(dir, "link.lisp")},
		{filepath.Join(outer, "tree"), dir, filepath.Join(outer, "tree", "link.lisp")}, // both are links
	} {
		link, to, named := c.link, c.to, c.named
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
		for _, sessions := range []string{dir, filepath.Dir(named)} {
			if err := os.WriteFile(path, []byte("(a"), 0o640); err != nil {
				t.Fatal(err)
			}
			r := &Request{Args: &args.Args{}, Env: Env{Trees: &files.Trees{}, SessionDir: sessions}}
			if reply, err := r.repair(t.Context(), named); err != nil || !strings.Contains(reply.Text, "mended") {
				t.Errorf("%s: %+v, %v", named, reply, err)
			}
			if text, err := os.ReadFile(path); string(text) != "(a)" {
				t.Errorf("%s: the file has %q, %v", named, text, err)
			}
			if is, err := os.Readlink(link); is != to {
				t.Errorf("%s leads to %q, %v", link, is, err)
			}
		}
	}
}
