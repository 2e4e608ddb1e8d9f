package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/swank/lisp/launch"
)

// stalled has each try stop, until the function returned is called, and returns a function
// that waits for the next one and returns its process.
func stalled(t *testing.T) (next func() int, end func()) {
	t.Helper()
	answered.Store(nil)
	path := filepath.Join(t.TempDir(), "pids")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pids, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pids.Close() })
	t.Setenv(stallVariable, path)
	return func() int {
		var line []byte
		for b := make([]byte, 1); ; line = append(line, b[0]) {
			if _, err := io.ReadFull(pids, b); err != nil || b[0] == '\n' {
				pid, err := strconv.Atoi(string(line))
				if err != nil {
					t.Fatal(err)
				}
				return pid
			}
		}
	}, func() { _ = os.Remove(path) }
}

// A try that stands still is no answer: what waits for it is refused when its time is up, with
// the reason, and the next one asks again.
func TestAskStalled(t *testing.T) {
	can, err := whatIsAble(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	next, end := stalled(t)
	told := 0
	s := New(Options{Mode: On, Tell: func(string) { told++ }})

	ctx, cancel := context.WithCancelCause(t.Context())
	wrapped := make(chan error)
	go func() {
		_, err := s.Launch().Wrap(ctx, exec.Command("/bin/true"), launch.Confined{Own: t.TempDir()})
		wrapped <- err
	}()
	pid := next()
	over := errors.New("the call's time is up")
	cancel(over)
	var unanswered *UnansweredError
	if err := <-wrapped; !errors.As(err, &unanswered) || !errors.Is(err, over) || !strings.Contains(err.Error(), "has not answered yet") {
		t.Errorf("an image was confined by a system that has not answered: %v", err)
	}
	if told != 0 || answered.Load() != nil {
		t.Errorf("told %d times of what is not known: %+v", told, answered.Load())
	}
	for err := error(nil); err == nil; { // it is killed, and its end is waited for
		_, err = os.Stat("/proc/" + strconv.Itoa(pid))
	}

	asked := make(chan error)
	go func() {
		_, err := s.Ask(t.Context())
		asked <- err
	}()
	pid = next()
	for state := ""; state != "T"; {
		text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		_, rest, _ := strings.Cut(string(text), ") ")
		state, _, _ = strings.Cut(rest, " ")
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; err != nil {
		t.Errorf("a try that goes on does not answer: %v", err)
	}
	if now := answered.Load(); now == nil || *now != can {
		t.Errorf("it answers %+v, and %+v before", now, can)
	}

	// One that somebody kills says nothing of what the system can do, either.
	answered.Store(nil)
	go func() {
		_, err := s.Ask(t.Context())
		asked <- err
	}()
	if err := syscall.Kill(next(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-asked; !errors.As(err, &unanswered) {
		t.Errorf("a try was killed: %v", err)
	}
	end()
	if now, err := whatIsAble(t.Context()); err != nil || now != can {
		t.Errorf("after all of this: %+v, %v, and %+v before", now, err, can)
	}
}

// What the system lacks for the moment is no answer.
func TestAskWithoutRoom(t *testing.T) {
	answered.Store(nil)
	t.Cleanup(func() { answered.Store(nil) })
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "gone"))
	if can, err := whatIsAble(t.Context()); err == nil {
		t.Errorf("without a directory for it: %+v", can)
	}
}
