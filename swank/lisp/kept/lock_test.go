//go:build unix

package kept

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// What was given up can be had at once, though a process that is being started still has its lock
// open, as each has until it runs its program.
func TestGivenUpWhileAProcessStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.lisp")
	first := Open(path)
	if first.Keep(one("f"), true, true); first.Problem() != "" {
		t.Fatal(first.Problem())
	}
	starting, err := syscall.Dup(int(first.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(starting)
	first.Close()
	second := Open(path)
	defer second.Close()
	if second.Problem() != "" || second.Left().Path != path {
		t.Errorf("the next one has %+v, want the session that was kept in %s: %s", second.Left(), path, second.Problem())
	}
}

// A server that saves in the same directory is waited for as long as the caller says.
func TestSaveWaitsForAnotherServer(t *testing.T) {
	dir := t.TempDir()
	c, err := CoresIn(nil, filepath.Join(dir, "sessions"), filepath.Join(dir, "keys"))
	if err != nil {
		t.Fatal(err)
	}
	saveTest(t, c, "first", 0, 10) // makes the directory
	at, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	defer at.close()
	synctest.Test(t, func(t *testing.T) {
		unlock, err := at.lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("too late"))
		defer cancel()
		if _, err := at.lock(ctx); err == nil || !strings.HasPrefix(err.Error(), "another server saves in ") {
			t.Errorf("after the deadline: %v", err)
		}
		time.AfterFunc(10*time.Minute, unlock)
		unlock, err = at.lock(t.Context())
		if err != nil {
			t.Fatalf("without a deadline: %v", err)
		}
		unlock()
	})
}
