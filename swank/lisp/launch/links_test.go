//go:build unix

package launch

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"swank-mcp/internal/files"
)

// A link or a pipe in the place of a core that was saved is refused, and where the link leads
// nothing is written.
func TestCoreIsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, link, pipe := filepath.Join(dir, "other"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(other, coreEnd, 0o600), os.Symlink(other, link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{link, pipe} {
		if _, _, err := finishCore(func() (*os.File, error) { return files.Open(path, os.O_RDWR|os.O_APPEND, 0) }); !errors.Is(err, files.ErrNotPlain) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := BuildOf(pipe); !errors.Is(err, files.ErrNotPlain) {
		t.Errorf("the build of a pipe: %v", err)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != string(coreEnd) {
		t.Errorf("%q, %v", text, err)
	}
}
