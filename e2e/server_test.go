package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// server is one running binary under test.
type server struct {
	*wire.Client
	t *testing.T
}

// start runs the binary with the shared warm cache and opens it in the
// handshake era. At the end of the test the server must end by itself, have
// written nothing but the protocol, and leave no process.
func start(t *testing.T, args ...string) *server {
	t.Helper()
	return startWith(t, wire.Options{}, args...)
}

// startWith is start with options of the client.
func startWith(t *testing.T, o wire.Options, args ...string) *server {
	t.Helper()
	check(t, run.warm())
	if o.Env == nil {
		o.Env = environ(run.dir)
	}
	s := startCold(t, o, attachedArguments(t, o.Env, args)...)
	ctx := await.Context(t)
	if _, err := s.Open(ctx); err != nil {
		t.Fatalf("opening: %v\n%s", err, s.Said())
	}
	return s
}

// startCold runs the binary and says nothing to it.
func startCold(t *testing.T, o wire.Options, args ...string) *server {
	t.Helper()
	skipLaunchedOnly(t)
	if isAbout(t, broughtBack) { // from the journal; with checkpoints there is little to bring back
		args = append([]string{"--no-checkpoints"}, args...)
	}
	c, err := wire.Start(o, run.binary, args...)
	check(t, err)
	t.Cleanup(func() {
		for _, complaint := range farewell(c) {
			t.Error(complaint)
		}
		if t.Failed() {
			t.Log(lastOf(c))
		}
	})
	return &server{c, t}
}

// lastOf returns what a failed test shows of a server: its last message, the end of its log, and
// the seeds of the run.
func lastOf(c *wire.Client) string {
	var b strings.Builder
	if got := c.Received(); len(got) > 0 {
		fmt.Fprintf(&b, "last message of the server:\n%s\n", clip(string(got[len(got)-1].Data)))
	}
	if log := c.Said(); log != "" {
		fmt.Fprintf(&b, "server log (end):\n%s\n", tail(log, 3000))
	}
	flag.VisitAll(func(f *flag.Flag) {
		if strings.HasSuffix(f.Name, "seed") {
			fmt.Fprintf(&b, "-%s %s\n", f.Name, f.Value)
		}
	})
	return b.String()
}

// farewell ends a server, unless it has ended, and tells what it did wrong in
// its life: it must end by itself at the end of its input, have written nothing
// but the protocol, have answered each request once, and leave no process.
func farewell(c *wire.Client) (complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	select {
	case <-c.Exited(): // the test ended it
	default:
		kids := descendants(c.PID())
		if err := c.Close(await.Ceiling); err != nil {
			complain("closing: %v\nstderr: %s", err, c.Said())
		}
		for _, pid := range kids {
			if !gone(pid) {
				complain("process %d (%s) outlived its server", pid, command(pid))
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	if err := c.Breach(); err != nil {
		complain("%v", err)
	}
	for id, n := range c.Answers() {
		if n != 1 && id != "null" {
			complain("request %s was answered %d times", id, n)
		}
	}
	if strings.Contains(c.Said(), "DATA RACE") || strings.Contains(c.Said(), "panic:") {
		complain("server log:\n%s", c.Said())
	}
	return complaints
}

// a life is the state that a session must keep through whatever a test does.
type life struct{ pid int }

// begin makes definitions for [life.goesOn] to look for.
func begin(t *testing.T, s *server) life {
	t.Helper()
	want(t, s, "(defvar *kept* 41) (defun kept (x) (+ x *kept*)) (incf *kept*) :ready", "=> :READY")
	return life{imagePID(t, s)}
}

// goesOn checks that the same session of the same image goes on.
func (l life) goesOn(t *testing.T, s *server) {
	t.Helper()
	want(t, s, "(+ 1 2)", "=> 3")
	want(t, s, "(kept 100)", "=> 142")
	wantPID(t, s, l.pid)
}

// wantPID wants the image to be this process still.
func wantPID(t *testing.T, s *server, pid int) {
	t.Helper()
	if now := imagePID(t, s); now != pid {
		t.Errorf("the image is process %d, want %d", now, pid)
	}
}

// pidPattern finds the process of the image in session-status.
var pidPattern = regexp.MustCompile(`\bpid (\d+)`)

// imagePID is the process id of the image as session-status tells it.
func imagePID(t *testing.T, s *server) int {
	t.Helper()
	text := status(t, s)
	m := pidPattern.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("session-status names no pid:\n%s", text)
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

// loses waits until the server knows that its image, this process, has ended.
func (s *server) loses(t *testing.T, pid int) {
	t.Helper()
	if await.Until(func() bool { return !strings.Contains(status(t, s), fmt.Sprintf("pid %d,", pid)) }) != nil {
		t.Fatalf("process %d is still the image", pid)
	}
}

// status returns the text of session-status.
func status(t *testing.T, s *server) string {
	t.Helper()
	r := call(t, s, "session-status", object{})
	if r.IsError {
		t.Fatalf("session-status failed:\n%s", r.Text())
	}
	return r.Text()
}

// gone reports whether the process ends. A zombie has ended.
func gone(pid int) bool {
	return await.Until(func() bool { return strings.Contains("ZX", state(pid)) }) == nil
}

// sleeps reports whether the process waits for something.
func sleeps(pid int) bool { return state(pid) == "S" }

// state is the letter of the process in /proc, and "" if it is not there.
func state(pid int) (letter string) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, _ = fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &letter)
	return letter
}

// command returns the command line of a process.
func command(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// descendants lists the processes below pid.
func descendants(pid int) []int {
	parents := map[int]int{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range stats {
		b, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		var state string
		var ppid int
		fmt.Sscan(string(b[strings.LastIndexByte(string(b), ')')+1:]), &state, &ppid)
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		parents[child] = ppid
	}
	found := []int{pid}
	for i := 0; i < len(found); i++ {
		for child, parent := range parents {
			if parent == found[i] && !slices.Contains(found, child) {
				found = append(found, child)
			}
		}
	}
	return found[1:]
}

// tail returns at most the last n bytes of s.
func tail(s string, n int) string { return s[max(0, len(s)-n):] }

// clip returns s without its middle, if it is long.
func clip(s string) string {
	if len(s) < 2000 {
		return s
	}
	return s[:1000] + "\n…\n" + tail(s, 800)
}
