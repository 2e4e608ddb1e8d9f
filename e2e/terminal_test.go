package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// desk is a user's terminal beside their servers: directories for sockets and state that
// no other test uses.
type desk struct {
	t    *testing.T
	dir  string // of everything, short
	env  []string
	home string
}

// newDesk makes a desk for the test.
func newDesk(t *testing.T, more ...string) *desk {
	t.Helper()
	dir, err := os.MkdirTemp(run.dir, "d")
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	d := &desk{t: t, dir: dir, home: filepath.Join(dir, "home")}
	check(t, os.Mkdir(d.home, 0o700))
	d.env = environ(run.dir, append([]string{"SWANK_MCP_NO_JOURNAL=false", "TMPDIR=" + dir, "XDG_STATE_HOME=" + filepath.Join(d.home, "state")}, more...)...)
	return d
}

// server starts a server of this user's in the directory of a project.
func (d *desk) server(project string, args ...string) *server {
	d.t.Helper()
	dir := filepath.Join(d.dir, project)
	check(d.t, os.MkdirAll(dir, 0o755))
	return startWith(d.t, wire.Options{Env: d.env, Dir: dir}, args...)
}

// types runs the program as the user would, and returns what it prints and its status.
func (d *desk) types(args ...string) (string, int) {
	d.t.Helper()
	cmd := exec.Command(run.binary, args...)
	cmd.Env, cmd.Dir = d.env, d.dir
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// gets is types of a command that must end well.
func (d *desk) gets(args ...string) string {
	d.t.Helper()
	out, status := d.types(args...)
	if status != 0 {
		d.t.Fatalf("%v ended with %d:\n%s", args, status, out)
	}
	return out
}

// statuses are what ps --json tells of each server. On a busy machine a server may not have
// answered in time; then ps is asked again.
func (d *desk) statuses() (all []map[string]any) {
	d.t.Helper()
	if await.Until(func() bool {
		all = nil
		for line := range strings.Lines(d.gets("ps", "--json")) {
			var st map[string]any
			check(d.t, json.Unmarshal([]byte(line), &st))
			all = append(all, st)
		}
		return !slices.ContainsFunc(all, func(st map[string]any) bool { return st["error"] != nil })
	}) != nil {
		d.t.Fatalf("a server does not answer: %v", all)
	}
	return all
}

// checkpoints is how many checkpoints there are of the only server.
func (d *desk) checkpoints() float64 {
	d.t.Helper()
	n, _ := d.statuses()[0]["image"].(map[string]any)["checkpoints"].(float64)
	return n
}

// sockets are the files where the servers' sockets are.
func (d *desk) sockets() []string {
	files, _ := filepath.Glob(filepath.Join(d.dir, "*.sock"))
	return files
}

// watching is a terminal in which watch runs.
type watching struct {
	cmd *exec.Cmd
	out record
}

// watches starts a terminal that watches the servers of the desk.
func (d *desk) watches(args ...string) *watching {
	d.t.Helper()
	w := &watching{cmd: exec.Command(run.binary, append([]string{"watch"}, args...)...)}
	w.cmd.Env, w.cmd.Dir, w.cmd.Stdout, w.cmd.Stderr = d.env, d.dir, &w.out, &w.out
	check(d.t, w.cmd.Start())
	ended := make(chan struct{})
	go func() {
		w.cmd.Wait()
		close(ended)
	}()
	d.t.Cleanup(func() {
		w.cmd.Process.Kill()
		<-ended
	})
	return w
}

// shows waits until the terminal shows each of the texts.
func (w *watching) shows(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if await.Until(func() bool { return strings.Contains(w.out.String(), text) }) != nil {
			t.Fatalf("watch does not show %q:\n%s", text, w.out.String())
		}
	}
}

// A person sees what the agent does: which server, what runs, each evaluation as it comes.
func TestTerminalSees(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	if out := d.gets("ps"); out != "No server runs.\n" {
		t.Errorf("before: %s", out)
	}
	if out, status := d.types("watch"); status != 1 || !strings.Contains(out, "no server of yours runs") {
		t.Errorf("watch before: %d, %s", status, out)
	}
	s := d.server("ledger")
	other := d.server("other", "--session", "second")
	want(t, s, "(+ 1 2)", "=> 3")
	if out, status := d.types("watch"); status != 1 || !strings.Contains(out, "2 servers run; name one, as in: swank-mcp watch ") {
		t.Errorf("watch of two: %d, %s", status, out)
	}
	w := d.watches("ledger")
	w.shows(t, "(+ 1 2)\n=> 3\n")
	gate := await.NewGate(t)
	call := running(t, s, `(progn (princ "so far") `+gate.Hold()+` (error "bad ~C[31m~C" (code-char 27) (code-char #x202e)))`)
	w.shows(t, "| so far\n")
	says(t, d.gets("ps"), "ledger", "wire", "default: (progn (princ \"so far\")", "second", "idle")
	if st := d.statuses(); len(st) != 2 || st[0]["id"] != fmt.Sprint(s.PID()) || st[0]["sessions"].([]any)[0].(map[string]any)["running"] == nil {
		t.Errorf("ps says %v", st)
	}
	gate.Open()
	if r := answer(t, call); !r.IsError {
		t.Error(r.Text())
	}
	w.shows(t, "[ERROR] SIMPLE-ERROR\nbad \\u{1B}[31m\\u{202E}\n")
	if strings.ContainsAny(w.out.String(), "\x1b\u202e") {
		t.Errorf("the terminal is told to do something: %q", w.out.String())
	}
	good(t, s, "evaluate-lisp", object{"code": "(sleep 0.2) :later", "background": true})
	w.shows(t, "goes on in the background as job-1\n", "=> :LATER\n")
	good(t, other, "session-status", object{})
	check(t, s.Close(await.Ceiling))
	w.shows(t, "image ended", "; the server has ended\n")
	if st := d.statuses(); len(st) != 1 || st[0]["id"] != fmt.Sprint(other.PID()) {
		t.Errorf("ps says afterwards %v", st)
	}
}

// Each of 3,000 evaluations is in the file, and comes to who watches, with its value and in
// order.
func TestTranscriptOfABurst(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("burst")
	want(t, s, "(+ 1 2)", "=> 3")
	w := d.watches("--json")
	w.shows(t, `"values":["3"]`)
	const n, atOnce = 3000, 50
	for i := 0; i < n; i += atOnce {
		var calls []*wire.Pending
		for j := range atOnce {
			calls = append(calls, sendCall(t, s, fmt.Sprintf("(values %d)", 10000+i+j)))
		}
		for _, c := range calls {
			answer(t, c)
		}
	}
	w.shows(t, fmt.Sprintf(`"values":["%d"]`, 10000+n-1))
	check(t, s.Close(await.Ceiling))
	files, _ := filepath.Glob(d.home + "/state/swank-mcp/transcripts/*.jsonl")
	if len(files) != 1 {
		t.Fatalf("the transcript is in %v", files)
	}
	text, err := os.ReadFile(files[0])
	check(t, err)
	for what, text := range map[string]string{"the file": string(text), "who watches": w.out.String()} {
		next := 10000
		for line := range strings.Lines(text) {
			var e struct {
				Kind   string
				Values []string
			}
			check(t, json.Unmarshal([]byte(line), &e))
			if e.Kind == "left out" {
				t.Errorf("%s: %s", what, line)
			}
			if e.Kind != "ended" || e.Values[0] == "3" {
				continue
			}
			if e.Values[0] != fmt.Sprint(next) {
				t.Fatalf("%s has %s after %d", what, line, next-1)
			}
			next++
		}
		if next != 10000+n {
			t.Errorf("%s has %d evaluations, not %d", what, next-10000, n)
		}
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
}

// A command in the terminal stops whatever the agent evaluates, and the session goes on.
func TestTerminalStops(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("busy")
	want(t, s, "(defun all () (loop (compile nil '(lambda (x) (loop for i below x collect (list i (1+ i)))))))", "=> ALL")
	if out := d.gets("stop"); out != "Nothing runs.\n" {
		t.Errorf("stop at rest: %s", out)
	}
	for _, code := range []string{
		"(loop)",
		"(sleep 100)",
		"(all)",
		`(let ((l (make-string 999999 :initial-element #\p))) (dotimes (i 100000) (write-line l)))`,
	} {
		call := running(t, s, code)
		out := make(chan string)
		go func() { out <- d.gets("stop") }()
		says(t, answer(t, call).Text(), stoppedHead)
		says(t, <-out, "Stopped in default after ", code[:5])
		want(t, s, "(+ 1 2)", "=> 3")
	}
}

// A terminal that stands still slows nothing, and is told what it has missed; a server that
// stands still does not keep ps.
func TestTerminalStandsStill(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("fast")
	want(t, s, "(+ 1 2)", "=> 3")
	w := d.watches()
	w.shows(t, "=> 3")
	check(t, w.cmd.Process.Signal(syscall.SIGSTOP))
	began := time.Now()
	for range 300 { // 6 MB
		want(t, s, "(values (make-string 20000 :initial-element #\\x))", "…")
	}
	t.Logf("300 evaluations with long values took %v", time.Since(began))
	want(t, s, ":last", "=> :LAST")
	check(t, w.cmd.Process.Signal(syscall.SIGCONT))
	w.shows(t, " entries are missing: ", "=> :LAST")

	check(t, syscall.Kill(s.PID(), syscall.SIGSTOP))
	out := d.gets("ps")
	says(t, out, fmt.Sprint(s.PID())+"  does not answer within ")
	check(t, syscall.Kill(s.PID(), syscall.SIGCONT))
	want(t, s, "(+ 1 2)", "=> 3")
}

// An image that a person runs is not taken back, and the person is told what does instead.
func TestTerminalDoesNotUndo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	p := newPerson(t, "")
	s := d.server("theirs", "--attach", p.address)
	want(t, s, "(+ 1 2)", "=> 3")
	if out, status := d.types("undo"); status != 1 || !strings.Contains(out, "swank-mcp: the image is one that you run") || !strings.Contains(out, "(swank-mcp:undo-entry N)") {
		t.Errorf("undo: %d, %s", status, out)
	}
	says(t, d.gets("ps"), ", attached")
}

// Code that has interrupts off is stopped, too: at the cost of the image, if that is ours.
func TestTerminalStopsWhatCannotBeStopped(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("deaf")
	want(t, s, "(defvar *kept* 1)", "=> *KEPT*")
	signal := await.NewGate(t)
	call := sendCall(t, s, "(sb-sys:without-interrupts "+signal.Sign()+" (loop))")
	signal.Reached()
	says(t, d.gets("stop"), "Stopped in default after ")
	says(t, answer(t, call).Text(), stoppedHead, "The evaluation could not be stopped", "a new one takes its place")
	want(t, s, "*kept*", "=> 1…")
}

// In a terminal there are colours, unless the user wants none; what code prints has none.
func TestTerminalColours(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("colours")
	want(t, s, `(progn (format t "~C[31mred" (code-char 27)) 3)`, "…")
	for want, more := range map[string][]string{
		"| \\u{1B}[31mred\r\n\x1b[32m=> 3\x1b[0m\r\n": {"TERM=xterm"},
		"| \\u{1B}[31mred\r\n=> 3\r\n":                {"TERM=xterm", "NO_COLOR=1"},
	} {
		var out record
		ctx := await.Context(t)
		cmd := exec.CommandContext(ctx, "script", "-qec", "exec "+run.binary+" watch", "/dev/null") // its shell would end of Ctrl-C, too
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = slices.Concat(d.env, more), d.dir, &out, &out
		keys, err := cmd.StdinPipe() // the terminal's; it is there until the program has ended
		check(t, err)
		check(t, cmd.Start())
		shown := await.Until(func() bool { return strings.Contains(out.String(), want) }) == nil
		_, err = keys.Write([]byte("\x03")) // Ctrl-C
		check(t, err)
		if err := cmd.Wait(); err != nil || !shown {
			t.Errorf("%v: %v, %q", more, err, out.String())
		}
	}
}

// The person has calls wait and go on; the terminal that watches shows that.
func TestTerminalPauses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	s := d.server("paused")
	want(t, s, "(defvar *x* 1)", "=> *X*")
	w := d.watches()
	w.shows(t, "=> *X*")
	says(t, d.gets("pause"), "Calls that would evaluate wait now.", "swank-mcp resume "+fmt.Sprint(s.PID()))
	call := running(t, s, "(incf *x*)")
	ps := ""
	if await.Until(func() bool { ps = d.gets("ps"); return strings.Contains(ps, "1 waiting") }) != nil {
		t.Error("no call waits")
	}
	says(t, ps, "paused: swank-mcp resume")
	if out := d.gets("resume"); out != "Calls go on.\n" {
		t.Errorf("resume: %s", out)
	}
	wantAnswer(t, call, "=> 2")
	w.shows(t, " paused\n", " resumed\n", "(incf *x*)\n=> 2")
	call = running(t, s, "(sleep 100)")
	d.gets("stop", "--json")
	says(t, answer(t, call).Text(), stoppedHead)
	w.shows(t, "person: stopped (sleep 100)")
}

// The person undoes a call, also while calls wait; the agent is told.
func TestTerminalUndoes(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := newDesk(t)
	s := d.server("undone")
	if out, status := d.types("undo"); status != 1 || !strings.Contains(out, "nothing was evaluated yet") {
		t.Errorf("undo of nothing: %d, %s", status, out)
	}
	checkpoints := func(n float64) {
		t.Helper()
		if await.Until(func() bool { return d.checkpoints() >= n }) != nil {
			t.Fatal("no checkpoint is taken")
		}
	}
	want(t, s, "(defvar *x* 1)", "=> *X*")
	checkpoints(1)
	want(t, s, "(incf *x*)", "=> 2")
	w := d.watches()
	d.gets("pause")
	says(t, d.gets("undo"), "Undone in default: (incf *x*)\nThe image is as it was at ")
	w.shows(t, "person: undone: (incf *x*)")
	d.gets("resume")
	text, _ := eval(t, s, "*x*")
	says(t, text, "=> 1\n", "; The person took the image back to ", "Undone: (incf *x*).")
	if out, status := d.types("undo", "--steps", "5"); status != 1 || !strings.Contains(out, "no checkpoint lies before that; there are: ") {
		t.Errorf("undo of more than there is: %d, %s", status, out)
	}
	gate := await.NewGate(t)
	call := running(t, s, gate.Hold())
	if out, status := d.types("undo"); status != 1 || !strings.Contains(out, "it waits for (loop until (probe-file ") || !strings.Contains(out, "; to end that: swank-mcp stop ") {
		t.Errorf("undo while something runs: %d, %s", status, out)
	}
	gate.Open()
	wantAnswer(t, call, "=> NIL")
}

// However servers end, no socket stays that ps would show, and none after the next one.
func TestSocketsGo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, end := range map[string]func(s *server){
		"end of input": func(s *server) { check(t, s.Close(await.Ceiling)) },
		"SIGTERM":      func(s *server) { syscall.Kill(s.PID(), syscall.SIGTERM); <-s.Exited() },
		"SIGINT":       func(s *server) { syscall.Kill(s.PID(), syscall.SIGINT); <-s.Exited() },
	} {
		s := d.server("ends")
		if n := len(d.sockets()); n != 1 {
			t.Errorf("before %s: %v", name, d.sockets())
		}
		end(s)
		if left := d.sockets(); len(left) > 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
	for _, next := range []func(){
		func() { d.server("next") },
		func() {
			if out := d.gets("ps"); strings.Count(out, "\n") != 2 { // the one before, and the head
				t.Errorf("ps says\n%s", out)
			}
		},
	} {
		s := d.server("killed")
		syscall.Kill(s.PID(), syscall.SIGKILL)
		<-s.Exited()
		dead := fmt.Sprintf("%s/%d.sock", d.dir, s.PID())
		if !slices.Contains(d.sockets(), dead) {
			t.Errorf("%s is not among %v", dead, d.sockets())
		}
		next()
		if slices.Contains(d.sockets(), dead) {
			t.Errorf("%s has stayed", dead)
		}
	}
}

// Twenty servers at once are all there, under their own names.
func TestTwentyServers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	check(t, run.warm())
	var all sync.WaitGroup
	clients := make([]*wire.Client, 20)
	for i := range clients {
		all.Go(func() {
			c, err := wire.Start(wire.Options{Env: d.env}, run.binary)
			if err == nil {
				_, err = c.Open(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
			clients[i] = c
		})
	}
	all.Wait()
	if st := d.statuses(); len(st) != len(clients) {
		t.Errorf("ps says %v", st)
	}
	for _, c := range clients {
		all.Go(func() {
			if err := c.Close(await.Ceiling); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if left := d.sockets(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A server works without a home, with nothing to write to, and with --no-transcript; ps says
// what is not kept.
func TestTranscriptNowhere(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	quiet := d.server("quiet", "--no-transcript")
	want(t, quiet, ":before", "=> :BEFORE")
	w := d.watches("quiet")
	w.shows(t, "Ctrl-C")
	if await.Until(func() bool {
		want(t, quiet, ":quiet", "=> :QUIET")
		return strings.Contains(w.out.String(), "=> :QUIET")
	}) != nil || strings.Contains(w.out.String(), ":before") {
		t.Errorf("watch shows\n%s", w.out.String())
	}
	if st := d.statuses(); len(st[0]["transcript"].(map[string]any)) != 0 {
		t.Errorf("ps says %v", st)
	}
	if files, _ := filepath.Glob(d.home + "/state/*/*"); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
	check(t, quiet.Close(await.Ceiling))
	for _, more := range [][]string{{"HOME=/proc/nowhere", "XDG_STATE_HOME="}, {"XDG_STATE_HOME=/proc/nowhere"}} {
		d := newDesk(t, more...)
		s := d.server("poor")
		want(t, s, ":poor", "=> :POOR")
		d.watches().shows(t, "=> :POOR")
		says(t, d.gets("ps"), "the transcript is not written: mkdir /proc/nowhere")
	}
}

// Another user of the machine sees and steers nothing, even one who looks in the same
// directory.
func TestOtherUserOfTheMachine(t *testing.T) {
	t.Parallel()
	open, err := os.MkdirTemp("/tmp", "swo") // where the other one can enter
	check(t, err)
	t.Cleanup(func() { os.RemoveAll(open) })
	check(t, os.Chmod(open, 0o755))
	d := newDesk(t)
	d.env = append(d.env, runDirVariable+"="+filepath.Join(open, "sockets"))
	s := d.server("mine")
	want(t, s, "(+ 1 2)", "=> 3")
	if st := d.statuses(); len(st) != 1 {
		t.Errorf("the user sees %v", st)
	}
	binary := filepath.Join(open, "binary")
	// By another process: what this one writes, one that it starts meanwhile holds open, and
	// then the kernel does not execute it.
	check(t, exec.Command("install", "-m", "755", run.binary, binary).Run())
	for _, command := range []string{"ps", "watch", "stop", "pause", "undo"} {
		cmd := exec.Command(binary, command)
		cmd.Dir, cmd.Env = "/", d.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if !bytes.Contains(bytes.ToLower(out), []byte("no server")) {
			t.Errorf("%s of another user: %v: %s", command, err, out)
		}
	}
	want(t, s, "(+ 1 2)", "=> 3")
	if st := d.statuses(); len(st) != 1 {
		t.Errorf("afterwards the user sees %v", st)
	}
}
