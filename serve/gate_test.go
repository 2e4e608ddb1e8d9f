package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A gate is where code says that it has come, and in which process, and waits until the test
// lets it go on. So no test has to guess how long anything takes on a machine that is busy.
type gate struct {
	t         *testing.T
	come, way string // files: the process that has come, and that it may go on
}

// newGate returns a gate that is shut.
func newGate(t *testing.T) gate {
	t.Helper()
	dir := t.TempDir()
	return gate{t, filepath.Join(dir, "come"), filepath.Join(dir, "way")}
}

// wait is code that says that it has come, and waits.
func (g gate) wait() string {
	return fmt.Sprintf(`(progn (with-open-file (out %q :direction :output :if-exists :supersede) (format out "~d~%%" %s)) (loop until (probe-file %q) do (sleep 0.01)))`,
		g.come, getpid, g.way)
}

// reached waits until code has come, and returns its process.
func (g gate) reached() (pid int) {
	g.t.Helper()
	eventually(g.t, "code has come to the gate", func() bool {
		text, _ := os.ReadFile(g.come)
		line, _, whole := strings.Cut(string(text), "\n")
		pid, _ = strconv.Atoi(line)
		return whole
	})
	return pid
}

// open lets code go on that waits, and what comes later.
func (g gate) open() {
	if err := os.WriteFile(g.way, nil, 0o600); err != nil {
		g.t.Error(err)
	}
}
