package hub

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// Directories that code has closed are no place to hide files from the limit.
func TestClosedDirectories(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "closed")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	inner := filepath.Join(dir, "inner")
	if err := errors.Join(os.Chmod(dir, 0o755), os.Mkdir(inner, 0o755), os.WriteFile(filepath.Join(inner, "file"), make([]byte, 10*block), 0o644)); err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread() // which ends with the test, as it is not unlocked
	const nobody = 65534
	if os.Geteuid() == 0 { // root may look everywhere
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	if use := diskOf([]string{dir}); !use.whole || use.closed != "" || use.bytes != 12*block {
		t.Errorf("open: %+v", use)
	}
	for _, mode := range []os.FileMode{0, 0o400, 0o444} { // not to be listed, and listed without what is in it
		chmod(t, inner, mode)
		use := diskOf([]string{dir, filepath.Join(dir, "gone")})
		if use.whole || !strings.HasPrefix(use.closed, inner) {
			t.Errorf("with mode %v: %+v", mode, use)
		}
		s := &Session{disk: use}
		if text := s.diskText(); !strings.Contains(text, "chmod u+rwx") || strings.Contains(text, "too many") {
			t.Errorf("with mode %v: %s", mode, text)
		}
	}
	chmod(t, inner, 0o755)
}

// chmod changes a mode as the owner of a file.
func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	done := make(chan error)
	go func() { done <- os.Chmod(path, mode) }() // on another thread
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
