//go:build unix

package harness

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// desk is a user's terminal beside their servers: directories for sockets and state that
// no other test uses.
type desk struct {
	t    *testing.T
	Dir  string // of everything, short
	Env  []string
	Home string
}

// NewDesk makes a desk for the test.
func NewDesk(t *testing.T, more ...string) *desk {
	t.Helper()
	dir, err := os.MkdirTemp(Run.Dir, "d")
	Check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &desk{t: t, Dir: dir, Home: filepath.Join(dir, "home")}
	Check(t, os.Mkdir(d.Home, 0o700))
	d.Env = Environ(Run.Dir, append([]string{"SWANK_MCP_NO_JOURNAL=false", "TMPDIR=" + dir, "XDG_STATE_HOME=" + filepath.Join(d.Home, "state")}, more...)...)
	return d
}

// Server starts a server of this user's in the directory of a project.
func (d *desk) Server(project string, args ...string) *Server {
	d.t.Helper()
	dir := filepath.Join(d.Dir, project)
	Check(d.t, os.MkdirAll(dir, 0o755))
	return StartWith(d.t, wire.Options{Env: d.Env, Dir: dir}, args...)
}

// Types runs the program as the user would, and returns what it prints and its status.
func (d *desk) Types(args ...string) (string, int) {
	d.t.Helper()
	cmd := exec.Command(Run.Binary, args...)
	cmd.Env, cmd.Dir = d.Env, d.Dir
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// Gets is types of a command that must end well.
func (d *desk) Gets(args ...string) string {
	d.t.Helper()
	out, status := d.Types(args...)
	if status != 0 {
		d.t.Fatalf("%v ended with %d:\n%s", args, status, out)
	}
	return out
}

// Statuses returns one object of ps --json for each server. On a busy machine a server may not have
// answered in time; then ps is asked again.
func (d *desk) Statuses() (all []map[string]any) {
	d.t.Helper()
	if await.Until(func() bool {
		all = nil
		for line := range strings.Lines(d.Gets("ps", "--json")) {
			var st map[string]any
			Check(d.t, json.Unmarshal([]byte(line), &st))
			all = append(all, st)
		}
		return !slices.ContainsFunc(all, func(st map[string]any) bool { return st["error"] != nil })
	}) != nil {
		d.t.Fatalf("a server does not answer: %v", all)
	}
	return all
}

// Checkpoints counts the checkpoints of the only server.
func (d *desk) Checkpoints() float64 {
	d.t.Helper()
	n, _ := d.Statuses()[0]["image"].(map[string]any)["checkpoints"].(float64)
	return n
}

// Sockets are the files where the servers' sockets are.
func (d *desk) Sockets() []string {
	files, _ := filepath.Glob(filepath.Join(d.Dir, "*.sock"))
	return files
}

// watching is a terminal in which watch runs.
type watching struct {
	Cmd *exec.Cmd
	Out Record
}

// Watches starts a terminal that watches the servers of the desk.
func (d *desk) Watches(args ...string) *watching {
	d.t.Helper()
	w := &watching{Cmd: exec.Command(Run.Binary, append([]string{"watch"}, args...)...)}
	w.Cmd.Env, w.Cmd.Dir, w.Cmd.Stdout, w.Cmd.Stderr = d.Env, d.Dir, &w.Out, &w.Out
	Check(d.t, w.Cmd.Start())
	ended := make(chan struct{})
	go func() {
		w.Cmd.Wait()
		close(ended)
	}()
	d.t.Cleanup(func() {
		w.Cmd.Process.Kill()
		<-ended
	})
	return w
}

// Shows waits until the terminal shows each of the texts.
func (w *watching) Shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if await.Until(func() bool { return strings.Contains(w.Out.String(), text) }) != nil {
			t.Fatalf("watch does not show %q:\n%s", text, w.Out.String())
		}
	}
}
