//go:build unix

package harness

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

// Server is one running binary under test.
type Server struct {
	*wire.Client
	T *testing.T
}

// Start runs the binary with the shared warm cache and opens it in the
// handshake era. At the end of the test the server must end by itself, have
// written nothing but the protocol, and leave no process.
func Start(t *testing.T, args ...string) *Server {
	t.Helper()
	return StartWith(t, wire.Options{}, args...)
}

// StartWith is start with options of the client.
func StartWith(t *testing.T, o wire.Options, args ...string) *Server {
	t.Helper()
	Check(t, Run.Warm())
	if o.Env == nil {
		o.Env = Environ(Run.Dir)
	}
	s := StartCold(t, o, attachedArguments(t, o.Env, args)...)
	ctx := await.Context(t)
	if _, err := s.Open(ctx); err != nil {
		t.Fatalf("opening: %v\n%s", err, s.Said())
	}
	return s
}

// StartCold runs the binary and says nothing to it.
func StartCold(t *testing.T, o wire.Options, args ...string) *Server {
	t.Helper()
	SkipLaunchedOnly(t)
	if isAbout(t, broughtBack) { // from the journal; with checkpoints there is little to bring back
		args = append([]string{"--no-checkpoints"}, args...)
	}
	c, err := wire.Start(o, Run.Binary, args...)
	Check(t, err)
	t.Cleanup(func() {
		for _, complaint := range Farewell(c) {
			t.Error(complaint)
		}
		if t.Failed() {
			t.Log(LastOf(c))
		}
	})
	return &Server{c, t}
}

// LastOf returns what a failed test shows of a server: its last message, the end of its log, and
// the seeds of the run.
func LastOf(c *wire.Client) string {
	var b strings.Builder
	if got := c.Received(); len(got) > 0 {
		fmt.Fprintf(&b, "last message of the server:\n%s\n", Clip(string(got[len(got)-1].Data)))
	}
	if log := c.Said(); log != "" {
		fmt.Fprintf(&b, "server log (end):\n%s\n", Tail(log, 3000))
	}
	flag.VisitAll(func(f *flag.Flag) {
		if strings.HasSuffix(f.Name, "seed") {
			fmt.Fprintf(&b, "-%s %s\n", f.Name, f.Value)
		}
	})
	return b.String()
}

// Farewell ends a server, unless it has ended, and tells what it did wrong in
// its life: it must end by itself at the end of its input, have written nothing
// but the protocol, have answered each request once, and leave no process.
func Farewell(c *wire.Client) (complaints []string) {
	complain := func(format string, args ...any) { complaints = append(complaints, fmt.Sprintf(format, args...)) }
	select {
	case <-c.Exited(): // the test ended it
	default:
		kids := Descendants(c.PID())
		if err := c.Close(await.Ceiling); err != nil {
			complain("closing: %v\nstderr: %s", err, c.Said())
		}
		for _, pid := range kids {
			if !Gone(pid) {
				complain("process %d (%s) outlived its server", pid, Command(pid))
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
type Life struct{ Pid int }

// Begin makes definitions for [Life.GoesOn] to look for.
func Begin(t *testing.T, s *Server) Life {
	t.Helper()
	Want(t, s, "(defvar *kept* 41) (defun kept (x) (+ x *kept*)) (incf *kept*) :ready", "=> :READY")
	return Life{ImagePID(t, s)}
}

// GoesOn checks that the same session of the same image goes on.
func (l Life) GoesOn(t *testing.T, s *Server) {
	t.Helper()
	Want(t, s, "(+ 1 2)", "=> 3")
	Want(t, s, "(kept 100)", "=> 142")
	WantPID(t, s, l.Pid)
}

// WantPID wants the image to be this process still.
func WantPID(t *testing.T, s *Server, pid int) {
	t.Helper()
	if now := ImagePID(t, s); now != pid {
		t.Errorf("the image is process %d, want %d", now, pid)
	}
}

// PidPattern finds the process of the image in session-status.
var PidPattern = regexp.MustCompile(`\bpid (\d+)`)

// ImagePID is the process id of the image as session-status tells it.
func ImagePID(t *testing.T, s *Server) int {
	t.Helper()
	text := Status(t, s)
	m := PidPattern.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("session-status names no pid:\n%s", text)
	}
	pid, _ := strconv.Atoi(m[1])
	return pid
}

// Loses waits until the server knows that its image, this process, has ended.
func (s *Server) Loses(t *testing.T, pid int) {
	t.Helper()
	if await.Until(func() bool { return !strings.Contains(Status(t, s), fmt.Sprintf("pid %d,", pid)) }) != nil {
		t.Fatalf("process %d is still the image", pid)
	}
}

// Status returns the text of session-status.
func Status(t *testing.T, s *Server) string {
	t.Helper()
	r := Call(t, s, "session-status", Object{})
	if r.IsError {
		t.Fatalf("session-status failed:\n%s", r.Text())
	}
	return r.Text()
}

// Gone reports whether the process ends. A zombie has ended.
func Gone(pid int) bool {
	return await.Until(func() bool { return strings.Contains("ZX", State(pid)) }) == nil
}

// sleeps reports whether the process waits for something.
func sleeps(pid int) bool { return State(pid) == "S" }

// State is the letter of the process in /proc, and "" if it is not there.
func State(pid int) (letter string) {
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, _ = fmt.Sscan(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), &letter)
	return letter
}

// Command returns the command line of a process.
func Command(pid int) string {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.ReplaceAll(string(b), "\x00", " ")
}

// Descendants lists the processes below pid.
func Descendants(pid int) []int {
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

// Tail returns at most the last n bytes of s.
func Tail(s string, n int) string { return s[max(0, len(s)-n):] }

// Clip returns s without its middle, if it is long.
func Clip(s string) string {
	if len(s) < 2000 {
		return s
	}
	return s[:1000] + "\n…\n" + Tail(s, 800)
}
