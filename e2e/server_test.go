package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
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

func startWith(t *testing.T, o wire.Options, args ...string) *server {
	t.Helper()
	check(t, run.warm())
	if o.Env == nil {
		o.Env = environ(run.dir)
	}
	s := startCold(t, o, attachedArguments(t, o.Env, args)...)
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
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
		if t.Failed() && c.Said() != "" {
			t.Logf("server log (end):\n%s", tail(c.Said(), 3000))
		}
	})
	return &server{c, t}
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
		if err := c.Close(savingPatience); err != nil {
			complain("closing: %v\nstderr: %s", err, c.Said())
		}
		for _, pid := range kids {
			if !gone(pid, savingPatience) {
				complain("process %d (%s) outlived its server by %v", pid, command(pid), savingPatience)
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
	began := time.Now()
	want(t, s, "(+ 1 2)", "=> 3")
	if d := time.Since(began); d > 5*time.Second {
		t.Errorf("(+ 1 2) took %v", d)
	}
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
	if !eventually(long, func() bool { return !strings.Contains(status(t, s), fmt.Sprintf("pid %d,", pid)) }) {
		t.Fatalf("process %d is still the image", pid)
	}
}

func status(t *testing.T, s *server) string {
	t.Helper()
	r := call(t, s, patience, "session-status", object{})
	if r.IsError {
		t.Fatalf("session-status failed:\n%s", r.Text())
	}
	return r.Text()
}

// eventually polls until ok or the limit.
func eventually(limit time.Duration, ok func() bool) bool {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return true
		}
	}
	return ok()
}

// gone reports whether the process ends within limit. A zombie has ended.
func gone(pid int, limit time.Duration) bool {
	return eventually(limit, func() bool { return strings.Contains("ZX", state(pid)) })
}

// sleeps reports whether the process waits for something.
func sleeps(pid int) bool { return state(pid) == "S" }

// state is the letter of the process in /proc, and "" if it is not there.
func state(pid int) (letter string) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, _ = fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &letter)
	return letter
}

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

func tail(s string, n int) string { return s[max(0, len(s)-n):] }

func clip(s string) string {
	if len(s) < 2000 {
		return s
	}
	return s[:1000] + "\n…\n" + tail(s, 800)
}
