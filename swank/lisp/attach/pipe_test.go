package attach

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"swank-mcp/internal/await"
)

// A command may leave a process behind that holds its standard error, as ssh
// does with ControlPersist. Nobody may wait for that one: the connection's
// reader closes the pipe, and every call waits for the reader.
func TestPipeDoesNotWaitForWhatTheCommandLeaves(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatalf("%v\n(on Debian: apt-get install util-linux)", err)
	}
	lives := filepath.Join(t.TempDir(), "lives") // until the end of the test
	if err := os.WriteFile(lives, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := startPipe("setsid sh -c 'while test -e " + lives + "; do sleep 0.1; done' </dev/null >/dev/null & exec cat")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(p, "there\n"); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 6)
	if _, err := io.ReadFull(p, line); err != nil || string(line) != "there\n" {
		t.Fatalf("read %q, %v", line, err)
	}
	closed := make(chan error, 1)
	go func() { closed <- p.Close() }()
	if err := await.From(t, "the end of Close, though the command has left a process", closed); err != nil {
		t.Error(err)
	}
	if _, err := p.Read(line); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after Close, Read = %v", err)
	}
}
