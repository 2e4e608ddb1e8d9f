package lisp

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// callLimit is the time limit of calls whose limit is not the matter of the test.
const callLimit = time.Minute

// A gate is where code says that it has come, and waits until the test lets it go on. So no
// test has to guess how long anything takes on a machine that is busy.
type gate struct {
	t         *testing.T
	come, way string // files: that code has come, and that it may go on
}

// newGate returns a gate that is shut.
func newGate(t *testing.T) gate {
	t.Helper()
	dir := t.TempDir()
	return gate{t, filepath.Join(dir, "come"), filepath.Join(dir, "way")}
}

// sign is code that says that it has come, and does not wait.
func (g gate) sign() string {
	return fmt.Sprintf("(close (open %q :direction :output :if-exists :append :if-does-not-exist :create))", g.come)
}

// wait is code that says that it has come, and waits.
func (g gate) wait() string {
	return fmt.Sprintf("(progn %s (loop until (probe-file %q) do (sleep 0.01)))", g.sign(), g.way)
}

// reached waits until code has come.
func (g gate) reached() {
	g.t.Helper()
	if !polled(10*time.Millisecond, func() bool { _, err := os.Stat(g.come); return err == nil }) {
		g.t.Fatal("no code comes to the gate")
	}
}

// open lets code go on that waits, and what comes later.
func (g gate) open() {
	if err := os.WriteFile(g.way, nil, 0o600); err != nil {
		g.t.Error(err)
	}
}

// shut has code wait that comes from now on, which reached waits for anew.
func (g gate) shut() {
	os.Remove(g.come)
	os.Remove(g.way)
}

// settles waits until ok.
func settles(ok func() bool) bool { return polled(100*time.Millisecond, ok) }

// polled looks that often, for a minute, whether it is ok.
func polled(every time.Duration, ok func() bool) bool {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(every) {
		if ok() {
			return true
		}
	}
	return ok()
}
