package mcpbridge

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/swank/lisp"
)

// A file that a call names may be of any size; the server reads no more of it
// than it can hold.
func TestSyntaxOfAHugeFile(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.lisp")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, maxSource+1); err != nil {
		t.Fatal(err)
	}
	p := serve(t, Options{Tools: everyTool}).handshake()
	a := p.call("validate-syntax", `{"path": "`+huge+`"}`)
	if text := a.text(); !a.Result.IsError || !strings.Contains(text, "INVALID-ARGUMENTS") || !strings.Contains(text, "more than 16 MB") ||
		!strings.Contains(text, "Next: validate-syntax") {
		t.Errorf("got %s", text)
	}
}

// What could not be compiled or loaded is read again to look for a parenthesis,
// and may be what has no end: a pipe, a device.
func TestParenthesesOfWhatIsNoFile(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fifo, "/dev/zero"} {
		done := make(chan reply, 1)
		go func() {
			done <- compiledText(&lisp.Compiled{Failed: true}, &lisp.Result{}, name, "", lisp.Request{}, &spool{})
		}()
		select {
		case out := <-done:
			if !strings.Contains(out.text, "COMPILE-FAILED") {
				t.Errorf("%s: %s", name, out.text)
			}
		case <-time.After(5 * time.Second):
			t.Fatalf("%s is read for ever", name)
		}
	}
}
