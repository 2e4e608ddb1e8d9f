//go:build unix

package kept

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

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
