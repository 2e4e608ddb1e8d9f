//go:build unix

package harness

import (
	"io"
	"os/exec"
	"strings"
)

// Sits is watches in a terminal of its own, in which the person types what is written to the
// result.
func (d *desk) Sits(args ...string) (*watching, io.Writer) {
	d.t.Helper()
	command := strings.Join(append([]string{Run.Binary, "watch"}, args...), " ")
	w := &watching{Cmd: exec.Command("script", "-qec", command, "/dev/null")}
	w.Cmd.Env, w.Cmd.Dir, w.Cmd.Stdout, w.Cmd.Stderr = append(d.Env, "TERM=dumb"), d.Dir, &w.Out, &w.Out
	keys, err := w.Cmd.StdinPipe()
	Check(d.t, err)
	Check(d.t, w.Cmd.Start())
	ended := make(chan struct{})
	go func() {
		w.Cmd.Wait()
		close(ended)
	}()
	d.t.Cleanup(func() {
		keys.Close()
		w.Cmd.Process.Kill()
		<-ended
	})
	return w, keys
}
