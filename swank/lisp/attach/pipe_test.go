package attach

import (
	"errors"
	"io"
	"os/exec"
	"testing"
	"time"
)

// A command may leave a process behind that holds its standard error, as ssh
// does with ControlPersist. Nobody may wait for that one: the connection's
// reader closes the pipe, and every call waits for the reader.
func TestPipeDoesNotWaitForWhatTheCommandLeaves(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Fatalf("%v\n(on Debian: apt-get install util-linux)", err)
	}
	p, err := startPipe("setsid sleep 10 </dev/null >/dev/null & exec cat")
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
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("Close waits for the process that the command has left")
	}
	if _, err := p.Read(line); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("after Close, Read = %v", err)
	}
}
