//go:build unix

package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// What is no file is not opened, not waited for, and nothing comes into being through it.
func TestOnlyPlainFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.WriteFile(at("file"), []byte("12345"), 0o600),
		os.Mkdir(at("dir"), 0o700),
		os.Symlink("file", at("link")),
		os.Symlink("nowhere", at("dangling")),
		os.Symlink(os.DevNull, at("device")),
		syscall.Mkfifo(at("pipe"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	if text, info, err := Read(at("file"), 5); string(text) != "12345" || err != nil || info.Size() != 5 {
		t.Errorf("%q, %v, %v", text, info, err)
	}
	if _, _, err := Read(at("file"), 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("of a file that is too large: %v", err)
	}
	if _, _, err := Read(at("none"), 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}
	for _, name := range []string{"dir", "link", "dangling", "device", "pipe"} {
		for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_CREATE} {
			if _, err := Open(at(name), flag, 0o600); !errors.Is(err, ErrNotPlain) {
				t.Errorf("%s, with flags %x: %v", name, flag, err)
			}
		}
	}
	if _, err := os.Lstat(at("nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("made through a link: %v", err)
	}
}

// In a root a link may lead to another place in it, and nothing else does.
func TestReadIn(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(
		os.Mkdir(at("sub"), 0o700),
		os.WriteFile(at("sub/file"), []byte("12345"), 0o600),
		os.Symlink("sub/file", at("link")),
		os.Symlink("/etc/passwd", at("out")),
		os.Symlink("../"+filepath.Base(dir)+"/sub/file", at("around")),
		syscall.Mkfifo(at("pipe"), 0o600),
		os.Symlink("pipe", at("to pipe")),
	); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"sub/file", "link"} {
		if text, err := ReadIn(root, name, 5); string(text) != "12345" || err != nil {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	if _, err := ReadIn(root, "link", 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("of a file that is too large: %v", err)
	}
	for name, want := range map[string]error{"sub": ErrNotPlain, "pipe": ErrNotPlain, "to pipe": ErrNotPlain, "out": nil, "around": nil, "none": fs.ErrNotExist} {
		if _, err := ReadIn(root, name, 5); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// All is made but a home directory that does not exist.
func TestMakeDir(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	if err := MakeDir(filepath.Join(dir, "home", ".local", "state"), 0o700); err == nil {
		t.Error("the home directory was made")
	}
	if err := MakeDir(filepath.Join(dir, "state", "ours"), 0o700); err != nil {
		t.Error(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "home"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := MakeDir(filepath.Join(dir, "home", ".local", "state"), 0o700); err != nil {
		t.Error(err)
	}
}
