package http

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

const getpid = `(sb-alien:alien-funcall (sb-alien:extern-alien "getpid" (function sb-alien:int)))`

// httpPID is the process of the image that answers at path.
func httpPID(h *harness.HTTPServer, path string) int {
	line, _, _ := strings.Cut(h.Eval(path, getpid), "\n")
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "=> "))
	harness.Check(h.T, err)
	return pid
}

// A named session is there after the server has ended, well or by kill -9; with --autosave
// its values, too. No image outlives its server.
func TestHTTPNextServer(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	h := harness.StartHTTP(t, state)
	if info, err := os.Stat(h.Tokens()); err != nil || info.Mode().Perm() != 0o600 || len(h.Token) < 43 {
		t.Errorf("the tokens: %v, %v", info, err)
	}
	h.Wants("/s/n/mcp", "(defun f (x) (* 2 x)) (defvar *v* 1) (setf *v* 2)", "=> 2")
	h.Wants("/mcp", "(fboundp 'f)", "=> NIL")
	h.End()

	h = harness.StartHTTP(t, state)
	h.Wants("/s/n/mcp", "(f 21)", "; This session was brought back as it was kept …: 2 definitions. …\n\n=> 42")
	h.Wants("/s/n/mcp", "*v*", "=> 1")
	h.Wants("/s/n/mcp", "(defun g () 'g)", "=> G")
	pid := httpPID(h, "/s/n/mcp")
	h.Keeps("n", "(defun g ")
	h.Cmd.Process.Kill()
	<-h.Ended
	if !harness.Gone(pid) {
		t.Error("the image outlives its server")
	}

	h = harness.StartHTTP(t, state)
	h.Wants("/s/n/mcp", "(list (f 21) (g))", "…3 definitions…=> (42 G)")
}

// Images that nobody uses are put away, and with --autosave wake with all values, also for
// the next server.
func TestHTTPHibernates(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	args := []string{"--hibernate-after", "0.5", "--autosave", "--no-checkpoints=false"}
	h := harness.StartHTTP(t, state, args...)
	h.Wants("/s/n/mcp", "(defvar *v* (list 1)) (defun f () *v*) (push 2 *v*)", "=> (2 1)")
	putAway := func() {
		t.Helper()
		if pid := httpPID(h, "/s/n/mcp"); !harness.Gone(pid) {
			t.Fatal("the image is not put away")
		}
	}
	putAway()
	h.Wants("/s/n/mcp", "(f)", "=> (2 1)\n; The image was replaced, because the one before ended: it was put away while nobody used it. … with all values.…")
	h.Wants("/s/n/mcp", "(push 3 *v*)", "…(3 2 1)…")
	putAway() // the end of a server has a minute for what is not on the disk yet
	h.End()
	h = harness.StartHTTP(t, state, args...)
	h.Wants("/s/n/mcp", "(f)", "…=> (3 2 1)…")
}

// What the flags and the tokens must not be is refused, and no token is ever said.
func TestHTTPRefuses(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	h := harness.StartHTTP(t, state)
	h.Wants("/mcp", "(+ 1 2)", "=> 3")
	right := h.Token
	h.Token = strings.Repeat("x", len(right))
	if got := h.Eval("/mcp", "1"); !strings.HasPrefix(got, "401 Unauthorized") {
		t.Errorf("another token: %s", got)
	}
	h.Token = right
	if line := harness.Command(h.Cmd.Process.Pid); strings.Contains(line, right) {
		t.Errorf("the token is in the command line: %s", line)
	}
	h.End()
	if strings.Contains(h.Stderr.String(), right) || strings.Contains(h.Stderr.String(), h.Token) {
		t.Errorf("a token is in the log:\n%s", h.Stderr.String())
	}

	harness.Check(t, os.Chmod(h.Tokens(), 0o640))
	for _, c := range []struct {
		args   []string
		status int
		text   string
	}{
		{[]string{"--http", "127.0.0.1:0"}, 1, "can be read by others (mode 0640). Next: chmod 600 "},
		{[]string{"--http", "0.0.0.0:0"}, 2, "--allow-remote"},
		{[]string{"--http", "0.0.0.0:0", "--allow-remote", "--no-auth", "--behind-proxy"}, 2, "--no-auth is for 127.0.0.1"},
		{[]string{"--http", "127.0.0.1:0", "--attach", "127.0.0.1:4005"}, 2, "--http starts an image for each session"},
		{[]string{"--http", "127.0.0.1:0", "--session", "x"}, 2, "/s/x/mcp"},
		{[]string{"--no-auth"}, 2, "give --http 127.0.0.1:7800 with them"},
	} {
		cmd := await.Command(t, harness.Run.Binary, c.args...)
		cmd.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+state)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.status || !strings.Contains(string(out), c.text) {
			t.Errorf("%q: status %d, %s; want %d, %q", c.args, code, out, c.status, c.text)
		}
	}
}

// At SIGTERM a call that runs is answered, and readiness ends before.
func TestHTTPDrain(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--drain", "20")
	for _, path := range []string{"/healthz", "/readyz"} {
		if status, body := h.Get(path); status != 200 {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
	h.Wants("/mcp", "(+ 1 2)", "=> 3")
	answered := make(chan string, 1)
	go func() { answered <- h.Eval("/mcp", "(progn (sleep 5) 'in-time)") }()
	if await.Until(func() bool { return strings.Contains(h.Call("/mcp", "session-status", harness.Object{}), "sleep 5") }) != nil {
		t.Fatal("it does not run")
	}
	h.End()
	if got := <-answered; got != "=> IN-TIME" {
		t.Errorf("the call was answered %s", got)
	}
}

// At a socket, and without tokens, which is said loudly. A client that closes its stream
// ends what it evaluates.
func TestHTTPSocket(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	h := harness.StartHTTP(t, t.TempDir(), "--http", "unix:"+path, "--no-auth")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info, err)
	}
	if log := h.Stderr.String(); !strings.Contains(log, "WARNING: no token is wanted (--no-auth)") {
		t.Errorf("it says %s", log)
	}
	h.Wants("/mcp", "(+ 1 2)", "=> 3")
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	if resp, err := h.Post(ctx, "/mcp", "tools/call", "evaluate-lisp", harness.Object{"name": "evaluate-lisp", "arguments": harness.Object{"code": "(loop)"}}); err == nil {
		io.ReadAll(resp.Body)
	}
	h.Wants("/mcp", "(+ 1 2)", "=> 3")
	h.End()
	if _, err := os.Stat(path); err == nil {
		t.Error("the socket stays")
	}
}

// Each session is one for ps, and a person stops what it evaluates.
func TestHTTPPeople(t *testing.T) {
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir())
	people := func(args ...string) string {
		cmd := await.Command(t, harness.Run.Binary, args...)
		cmd.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+h.State)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	h.Wants("/s/paper/mcp", "(+ 1 2)", "=> 3")
	h.Wants("/s/stone/mcp", "(+ 1 2)", "=> 3")
	answered := make(chan string, 1)
	go func() { answered <- h.Eval("/s/paper/mcp", "(sleep 100)") }()
	var id string
	if await.Until(func() bool {
		for line := range strings.Lines(people("ps")) {
			if strings.HasPrefix(line, strconv.Itoa(h.Cmd.Process.Pid)) && strings.Contains(line, "paper") && strings.Contains(line, "(sleep 100)") {
				id, _, _ = strings.Cut(line, " ")
			}
		}
		return id != ""
	}) != nil {
		t.Fatalf("ps does not show it:\n%s", people("ps"))
	}
	if got := people("stop", id); !strings.Contains(got, "(sleep 100)") {
		t.Errorf("stop: %s", got)
	}
	if got := <-answered; !strings.HasPrefix(got, harness.StoppedHead) {
		t.Errorf("the agent reads %s", got)
	}
	h.End()
	if got := people("ps"); strings.Contains(got, id) {
		t.Errorf("after the end of the server: %s", got)
	}
}

func atoi(t *testing.T, digits string) int {
	t.Helper()
	n, err := strconv.Atoi(digits)
	harness.Check(t, err)
	return n
}

// The one who runs the server sees its sessions, and ends them.
func TestHTTPSessions(t *testing.T) {
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir())
	sessions := func(args ...string) string {
		cmd := await.Command(t, harness.Run.Binary, append([]string{"sessions", "--http", strings.TrimPrefix(h.Url, "http://")}, args...)...)
		cmd.Env = harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+h.State)
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if got := sessions(); got != "SESSION  IMAGE  CLIENTS  REQUESTS  USED\n" {
		t.Errorf("at first: %s", got)
	}
	h.Wants("/s/paper/mcp", "(+ 1 2)", "=> 3")
	h.Call("/mcp", "session-status", harness.Object{})
	pid := httpPID(h, "/s/paper/mcp")
	got := sessions()
	for _, line := range []string{"owner/paper    awake  0        0         20", "owner/default  awake  0        0         20"} {
		if !strings.Contains(got, "\n"+line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
	h.Wants("/s/paper/mcp", "(defvar *kept* (make-array 10000000 :initial-element 1)) (defun f () (let ((end (+ (get-internal-run-time) 300000))) (loop while (< (get-internal-run-time) end)))) (f)", "…")
	got = sessions("show", "owner/paper")
	if want := fmt.Sprintf("Session    owner/paper\nImage      running since 20…, pid %d, … MB of memory, … of the processor\nBegun      20…\nLast used  20…\n"+
		"Clients    0 connected, 0 requests in progress\nEvaluated  3 evaluations\nDefined    2 definitions\nDisk       … kB", pid); !harness.Matches(want, got) {
		t.Errorf("show:\n%s\nwant\n%s", got, want)
	}
	if size := regexp.MustCompile(`(\d+) MB of memory, (\S+) (m?s) of`).FindStringSubmatch(got); size == nil || atoi(t, size[1]) < 80 || size[3] == "ms" && atoi(t, size[2]) < 300 {
		t.Errorf("an image with 80 MB that has worked for 0.3 s: %q", size)
	}
	if got := sessions("show", "owner/nothing"); !strings.Contains(got, "there is no session owner/nothing") {
		t.Errorf("show of none: %s", got)
	}
	if got := sessions("end", "owner/paper"); got != "Ended owner/paper.\n" || !harness.Gone(pid) {
		t.Errorf("end: %s", got)
	}
	if got := sessions("end", "owner/paper"); !strings.Contains(got, "there is no session owner/paper") {
		t.Errorf("again: %s", got)
	}
	if got := sessions(); strings.Contains(got, "owner/paper") {
		t.Errorf("after that: %s", got)
	}
}
