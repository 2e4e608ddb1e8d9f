//go:build unix

package plainfile

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
