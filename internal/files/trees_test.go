//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/internal/await"
)

// made makes what names say in a new directory, and returns the path of a name there: a directory
// for a name that ends in /, a link for one with -> in it, a pipe for one that ends in |, else a file
// with its name as text.
func made(t *testing.T, names ...string) (at func(name string) string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at = func(name string) string { return filepath.Join(dir, name) }
	for _, name := range names {
		put(t, at, name)
	}
	return at
}

func put(t *testing.T, at func(string) string, name string) {
	t.Helper()
	link, to, isLink := strings.Cut(name, " -> ")
	err := os.MkdirAll(filepath.Dir(at(link)), 0o700)
	switch {
	case err != nil:
	case isLink:
		err = os.Symlink(strings.ReplaceAll(to, "DIR", at("")), at(link))
	case strings.HasSuffix(name, "/"):
		err = os.MkdirAll(at(name), 0o700)
	case strings.HasSuffix(name, "|"):
		err = syscall.Mkfifo(at(name), 0o600)
	default:
		err = os.WriteFile(at(name), []byte(name), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func move(t *testing.T, at func(string) string, from, to string) {
	t.Helper()
	if err := os.Rename(at(from), at(to)); err != nil {
		t.Fatal(err)
	}
}

// What lies in a tree is found there by any name that leads to it, and nothing else is.
func TestTreesFind(t *testing.T) {
	at := made(t, "project/src/a.lisp", "other/b.lisp", "link -> project", "project/out -> ../other", "project/b.lisp -> ../other/b.lisp",
		"project/a.lisp -> src/a.lisp", "project/abs.lisp -> DIR/link/src/a.lisp", "other/in.lisp -> ../project/src/a.lisp", "project/loop -> loop")
	for _, named := range []string{"project", "link"} {
		for path, want := range map[string]string{
			"project/src/a.lisp": "src/a.lisp", "project/a.lisp": "src/a.lisp", "link/src/a.lisp": "src/a.lisp", "project/abs.lisp": "src/a.lisp",
			"project/src/../src/a.lisp": "src/a.lisp", "other/in.lisp": "src/a.lisp",
			"other/b.lisp": "", "project/b.lisp": "", "project/out/b.lisp": "", "project/../other/b.lisp": "",
		} {
			var trees Trees
			root, name, err := trees.Find(at(path), at("nowhere"), at(named))
			if err != nil || (root == nil) != (want == "") || root != nil && name != want {
				t.Errorf("%s in %s: %v, %q, %v; want %q", path, named, root, name, err, want)
			}
			if root != nil {
				if text, err := ReadPlain(root, name, 100); string(text) != "project/src/a.lisp" {
					t.Errorf("%s in %s has %q, %v", path, named, text, err)
				}
				root.Close()
			}
		}
	}
	var trees Trees
	for _, path := range []string{"project/loop", "project/none", "project/src/a.lisp/x"} {
		if root, _, err := trees.Find(at(path), at("project")); err == nil {
			t.Errorf("%s: %v", path, root)
		}
	}
}

// What code puts in the place of a directory in which it may write leads nowhere out of that.
func TestTreesSwapped(t *testing.T) {
	at := made(t, "project/sessions/", "project/sessions/a.lisp", "outside/a.lisp")
	var trees Trees
	trees.Add(at("project/sessions"))
	trees.Add(at("project")) // in any order
	for _, to := range []string{"../outside", at("outside"), "..", "sessions"} {
		if err := errors.Join(os.RemoveAll(at("project/sessions")), os.Symlink(to, at("project/sessions"))); err != nil {
			t.Fatal(err)
		}
		if root, name, err := trees.Find(at("project/sessions/a.lisp"), at("project/sessions"), at("project")); root != nil {
			t.Errorf("-> %s: found %s in %s, %v", to, name, root.Name(), err)
		}
		if text, err := trees.Read(at("project/sessions/a.lisp"), 100); to != "../outside" && to != at("outside") && err == nil {
			t.Errorf("-> %s: read %s, %v", to, text, err)
		}
		if root, err := trees.Open(at("project/sessions")); to != ".." && err == nil {
			t.Errorf("-> %s: opened %s", to, root.Name())
		}
		trees.Confine(func(string) bool { return false })
		if text, err := trees.Read(at("project/sessions/a.lisp"), 100); err == nil {
			t.Errorf("-> %s, confined: read %s, %v", to, text, err)
		}
		trees.Confine(nil)
	}
}

// A link that was there before code could write is a person's.
func TestTreesByLinkOut(t *testing.T) {
	at := made(t, "project/sessions -> ../elsewhere", "elsewhere/a", "outside/a")
	var trees, late Trees
	trees.Add(at("project"), at("project/sessions"))
	if root, name, err := trees.Find(at("project/sessions/a"), at("project/sessions")); root == nil || name != "a" {
		t.Errorf("%q, %v", name, err)
	}
	late.Add(at("project"))
	late.Add(at("project/sessions")) // by now code could have made it
	if root, name, err := late.Find(at("project/sessions/a"), at("project/sessions")); root != nil {
		t.Errorf("found %q in %s, %v", name, root.Name(), err)
	}
	if root, err := late.Open(at("project/sessions")); !errors.Is(err, ErrOutside) {
		t.Errorf("%v, %v", root, err)
	}
	if err := os.Remove(at("project/sessions")); err != nil {
		t.Fatal(err)
	}
	put(t, at, "project/sessions -> ../outside")
	if root, err := trees.Open(at("project/sessions")); !errors.Is(err, ErrOutside) {
		t.Errorf("pointed elsewhere: %v, %v", root, err)
	}
}

// A person may put another directory in the place of a tree, or have a link on the way to it lead
// elsewhere: code could not.
func TestTreesFollow(t *testing.T) {
	at := made(t, "first/a", "second/a", "current -> first", "plain/a")
	var trees Trees
	trees.Add(at("current"), at("plain"))
	has := func(name, want string) {
		t.Helper()
		root, in, err := trees.Find(at(name+"/a"), at(name))
		if err != nil || root == nil {
			t.Fatalf("%s: %v, %v", name, root, err)
		}
		defer root.Close()
		if text, err := ReadPlain(root, in, 100); string(text) != want {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	has("current", "first/a")
	if err := os.Remove(at("current")); err != nil {
		t.Fatal(err)
	}
	put(t, at, "current -> second")
	has("current", "second/a")
	has("plain", "plain/a")
	move(t, at, "plain", "old")
	move(t, at, "first", "plain")
	has("plain", "first/a")
	if root, _, err := trees.Find(at("old/a"), at("plain")); root != nil || err != nil {
		t.Errorf("what was there before: %v, %v", root, err)
	}
}

// In the sandbox nobody is told of what it closes: not what it is, nor whether it is there.
func TestTreesConfined(t *testing.T) {
	at := made(t, "project/a", "public/b", "public/in -> DIR/secret/c", "secret/c", "secret/pipe|", "secret/to -> DIR/public/b", "project/c -> ../secret/c", "project/n -> ../secret/none",
		"project/b -> ../public/b", "project/dir/", "project/pipe|", "elsewhere -> public",
		"project/up -> ../public/../project/a", "project/out -> DIR/secret/c/../../project/a", "project/none -> DIR/secret/none/../../project/a",
		"project/over -> DIR/secret/to/../../project/a")
	var trees Trees
	trees.Add(at("project"))
	trees.Confine(func(path string) bool { return below(at("public"), path) })
	for _, name := range []string{"project/a", "project/b", "project/up", "public/b"} {
		if text, err := trees.Read(at(name), 100); err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	for _, name := range []string{"secret/c", "secret/none", "secret", "secret/pipe|", "secret/c/x", "secret/to", "public/in", "project/c", "project/n", "elsewhere/b", "none", "public/none",
		"project/out", "project/none", "project/over"} {
		want := notThere(at(name)).Error()
		_, err := trees.Read(at(name), 100)
		_, statErr := trees.Stat(at(name))
		_, openErr := trees.Look(at(name))
		_, realErr := trees.Real(at(name))
		_, _, findErr := trees.Find(at(name), at("project"))
		for _, err := range []error{err, statErr, openErr, realErr, findErr} {
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v; want %s", name, err, want)
			}
		}
	}
	for _, name := range []string{"project/dir", "project/pipe|"} {
		await.Do(t, name, func() {
			if _, err := trees.Read(at(name), 100); !errors.Is(err, ErrNotPlain) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if names, err := trees.Names(at("project"), 3); len(names) != 3 || err != nil {
		t.Errorf("%q, %v", names, err)
	}
}

// Where code may not write, nobody is shown in the sandbox what is there, but in what lies below it
// where code may.
func TestTreesKept(t *testing.T) {
	at := made(t, "home/key", "home/project/a")
	for _, first := range []bool{true, false} {
		var trees Trees
		if first {
			trees.Keep(at("home"))
		}
		trees.Add(at("home/project"))
		trees.Keep(at("home"), at("home/project"))
		trees.Confine(func(string) bool { return false })
		if text, err := trees.Read(at("home/project/a"), 100); err != nil {
			t.Errorf("%q, %v", text, err)
		}
		if text, err := trees.Read(at("home/key"), 100); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q, %v", text, err)
		}
		if root, _, err := trees.Find(at("home/key"), at("home")); root != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v, %v", root, err)
		}
		if root, err := trees.Open(at("home")); err != nil {
			t.Error(err)
		} else {
			root.Close()
		}
	}
}

// A directory is made where it belongs, and never through a link out of a tree.
func TestTreesMake(t *testing.T) {
	at := made(t, "project/", "outside/", "project/out -> ../outside", "link -> project")
	var trees Trees
	trees.Add(at("project"), at("later"))
	trees.Confine(func(string) bool { return false })
	for path, want := range map[string]string{"project/a/b": "project/a/b", "later": "later", "later/e": "later/e"} {
		root, err := trees.Make(at(path), 0o700)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		root.Close()
		if info, err := os.Stat(at(want)); err != nil || !info.IsDir() {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if err := os.Remove(at("project/out")); err != nil {
		t.Fatal(err)
	}
	put(t, at, "project/out -> ../outside/none")
	if root, err := trees.Make(at("project/out/x"), 0o700); !errors.Is(err, ErrOutside) {
		t.Errorf("made %v, %v", root, err)
	}
	if _, err := os.Stat(at("outside/none")); err == nil {
		t.Error("made where a link leads")
	}
}

// What is opened in a directory is a plain file, and waits for nobody.
func TestOpenIn(t *testing.T) {
	at := made(t, "file", "link -> file", "out -> ../x", "dangling -> none", "pipe|", "dir/")
	if err := errors.Join(os.WriteFile(at("sparse"), nil, 0o600), os.Truncate(at("sparse"), 4<<30)); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(at(""))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"link", "out", "dangling", "pipe|", "dir"} {
		await.Do(t, name, func() {
			for _, flag := range []int{os.O_RDONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE} {
				if _, err := OpenIn(root, name, flag, 0o600); !errors.Is(err, ErrNotPlain) {
					t.Errorf("%s, with flags %x: %v", name, flag, err)
				}
			}
		})
	}
	if _, err := os.Lstat(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made through a link: %v", err)
	}
	if _, err := ReadPlain(root, "sparse", 1<<20); !errors.Is(err, ErrTooLarge) {
		t.Errorf("4 GB of nothing: %v", err)
	}
	await.Do(t, "a pipe in the place of a directory", func() {
		if _, err := OpenDir(root, "pipe|"); err == nil {
			t.Error("opened")
		}
		if _, err := ListIn(root, "pipe|", 10); err == nil {
			t.Error("listed")
		}
	})
	if f, err := OpenIn(root, "new", os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		t.Error(err)
	} else {
		f.Close()
	}
	if entries, err := ListIn(root, ".", 2); len(entries) != 2 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%v, %v", entries, err)
	}
}
