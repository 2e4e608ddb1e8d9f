package await

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Gate is a place to which Lisp code comes, and where it waits until the test lets it go on. So
// no test has to guess how long anything takes: what is to last as long as a test looks at it
// waits here.
type Gate struct {
	t         testing.TB
	come, way string // files: the processes that have come, and that they may go on
}

// NewGate returns a gate that is shut. Its files go with the test.
func NewGate(t testing.TB) *Gate {
	t.Helper()
	dir := t.TempDir()
	return &Gate{t, filepath.Join(dir, "come"), filepath.Join(dir, "way")}
}

// getpid is Lisp code for the number of its process, in SBCL. Others write a zero.
const getpid = `(funcall (or (and (find-package "SB-UNIX") (find-symbol "UNIX-GETPID" "SB-UNIX")) (constantly 0)))`

// Sign returns code that says that it has come, and does not wait.
func (g *Gate) Sign() string {
	return fmt.Sprintf(`(with-open-file (out %q :direction :output :if-exists :append :if-does-not-exist :create) (format out "~d~%%" %s))`, g.come, getpid)
}

// Hold returns code that waits until the gate is open, and does not say that it has come.
func (g *Gate) Hold() string {
	return fmt.Sprintf("(loop until (probe-file %q) do (sleep 0.01))", g.way)
}

// Wait returns code that says that it has come, and waits.
func (g *Gate) Wait() string { return fmt.Sprintf("(progn %s %s)", g.Sign(), g.Hold()) }

// Reached waits until code has come, and returns the process that was the first. It fails the
// test when one of the processes ends before that.
func (g *Gate) Reached(from ...Process) (pid int) {
	g.t.Helper()
	True(g.t, "code to come to the gate", func() bool {
		text, _ := os.ReadFile(g.come)
		line, _, whole := strings.Cut(string(text), "\n")
		pid, _ = strconv.Atoi(line)
		return whole
	}, from...)
	return pid
}

// Open lets code go on that waits, and code that comes later.
func (g *Gate) Open() {
	g.t.Helper()
	if err := os.WriteFile(g.way, nil, 0o600); err != nil {
		g.t.Error(err)
	}
}

// Shut has code wait that comes from now on, for which [Gate.Reached] then waits anew.
func (g *Gate) Shut() {
	os.Remove(g.come)
	os.Remove(g.way)
}
