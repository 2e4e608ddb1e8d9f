package await

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// Command returns a command that the end of the test ends, or the [Ceiling]. One of Go's then
// prints what its goroutines do, with what it has printed before; whatever it has started
// keeps nobody waiting who reads its output.
func Command(t testing.TB, name string, args ...string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(Context(t), name, args...)
	c.Cancel = func() error {
		if err := c.Process.Signal(syscall.SIGQUIT); err != os.ErrProcessDone && err != nil {
			return c.Process.Kill()
		}
		return nil
	}
	c.WaitDelay = 5 * time.Second
	return c
}
