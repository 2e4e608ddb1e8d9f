//go:build unix

package tools

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

// What could not be compiled or loaded is read again to look for a parenthesis,
// and may be what has no end: a pipe, a device.
func TestParenthesesOfWhatIsNoFile(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, "/dev/zero"} {
		done := make(chan Reply, 1)
		go func() {
			done <- compiledText(&files.Trees{}, &lisp.Compiled{Failed: true}, &lisp.Result{}, name, "", lisp.Request{}, &spool.Spool{})
		}()
		if out := await.From(t, "the end of reading "+name, done); !strings.Contains(out.Text, "COMPILE-FAILED") {
			t.Errorf("%s: %s", name, out.Text)
		}
	}
}
