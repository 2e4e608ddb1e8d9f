package people

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
)

// A person sees what the agent does: which server, what runs, each evaluation as it comes.
func TestTerminalSees(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	if out := d.Gets("ps"); out != "No server runs.\n" {
		t.Errorf("before: %s", out)
	}
	if out, status := d.Types("watch"); status != 1 || !strings.Contains(out, "no server of yours runs") {
		t.Errorf("watch before: %d, %s", status, out)
	}
	s := d.Server("ledger")
	other := d.Server("other", "--session", "second")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	if out, status := d.Types("watch"); status != 1 || !strings.Contains(out, "2 servers run; name one, as in: swank-mcp watch ") {
		t.Errorf("watch of two: %d, %s", status, out)
	}
	w := d.Watches("ledger")
	w.Shows(t, "(+ 1 2)\n=> 3\n")
	gate := await.NewGate(t)
	call := harness.Begun(t, s, `(progn (princ "so far") `+gate.Hold()+` (error "bad ~C[31m~C" (code-char 27) (code-char #x202e)))`)
	w.Shows(t, "| so far\n")
	harness.Says(t, d.Gets("ps"), "ledger", "wire", "default: (progn (princ \"so far\")", "second", "idle")
	if st := d.Statuses(); len(st) != 2 || st[0]["id"] != fmt.Sprint(s.PID()) || st[0]["sessions"].([]any)[0].(map[string]any)["running"] == nil {
		t.Errorf("ps says %v", st)
	}
	gate.Open()
	if r := harness.Answer(t, call); !r.IsError {
		t.Error(r.Text())
	}
	w.Shows(t, "[ERROR] SIMPLE-ERROR\nbad \\u{1B}[31m\\u{202E}\n")
	if strings.ContainsAny(w.Out.String(), "\x1b\u202e") {
		t.Errorf("the terminal is told to do something: %q", w.Out.String())
	}
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(sleep 0.2) :later", "background": true})
	w.Shows(t, "goes on in the background as job-1\n", "=> :LATER\n")
	harness.Good(t, other, "session-status", harness.Object{})
	harness.Check(t, s.Close(await.Ceiling))
	w.Shows(t, "image ended", "; the server has ended\n")
	if st := d.Statuses(); len(st) != 1 || st[0]["id"] != fmt.Sprint(other.PID()) {
		t.Errorf("ps says afterwards %v", st)
	}
}

// Each of 3,000 evaluations is in the file, and comes to who watches, with its value and in
// order.
func TestTranscriptOfABurst(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("burst")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	w := d.Watches("--json")
	w.Shows(t, `"values":["3"]`)
	const n, atOnce = 3000, 50
	last := harness.Burst(t, s, n, atOnce)
	w.Shows(t, fmt.Sprintf(`"values":["%d"]`, last))
	harness.Check(t, s.Close(await.Ceiling))
	files, _ := filepath.Glob(d.Home + "/state/swank-mcp/transcripts/*.jsonl")
	if len(files) != 1 {
		t.Fatalf("the transcript is in %v", files)
	}
	text, err := os.ReadFile(files[0])
	harness.Check(t, err)
	for what, text := range map[string]string{"the file": string(text), "who watches": w.Out.String()} {
		next := 10000
		for line := range strings.Lines(text) {
			var e struct {
				Kind   string
				Values []string
			}
			harness.Check(t, json.Unmarshal([]byte(line), &e))
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
	d := harness.NewDesk(t)
	s := d.Server("busy")
	harness.Want(t, s, "(defun all () (loop (compile nil '(lambda (x) (loop for i below x collect (list i (1+ i)))))))", "=> ALL")
	if out := d.Gets("stop"); out != "Nothing runs.\n" {
		t.Errorf("stop at rest: %s", out)
	}
	for _, code := range []string{
		"(loop)",
		"(sleep 100)",
		"(all)",
		`(let ((l (make-string 999999 :initial-element #\p))) (dotimes (i 100000) (write-line l)))`,
	} {
		call := harness.Running(t, s, code)
		out := make(chan string)
		go func() { out <- d.Gets("stop") }()
		harness.Says(t, harness.Answer(t, call).Text(), harness.StoppedHead)
		harness.Says(t, <-out, "Stopped in default after ", "(let () ")
		harness.Want(t, s, "(+ 1 2)", "=> 3")
	}
}

// A terminal that stands still slows nothing, and is told what it has missed; a server that
// stands still does not keep ps.
func TestTerminalStandsStill(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("fast")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	w := d.Watches()
	w.Shows(t, "=> 3")
	stall.Stop(t, w.Cmd.Process.Pid)
	began := time.Now()
	for range 300 { // 6 MB
		harness.Want(t, s, "(values (make-string 20000 :initial-element #\\x))", "…")
	}
	t.Logf("300 evaluations with long values took %v", time.Since(began))
	harness.Want(t, s, ":last", "=> :LAST")
	harness.Check(t, w.Cmd.Process.Signal(syscall.SIGCONT))
	w.Shows(t, " entries are missing: ", "=> :LAST")

	stall.Stop(t, s.PID())
	out := d.Gets("ps")
	harness.Says(t, out, fmt.Sprint(s.PID())+"  has not answered within ")
	harness.Check(t, syscall.Kill(s.PID(), syscall.SIGCONT))
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// An image that a person runs is not taken back, and the person is told what does instead.
func TestTerminalDoesNotUndo(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	p := harness.NewPerson(t, "")
	s := d.Server("theirs", "--attach", p.Address)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	if out, status := d.Types("undo"); status != 1 || !strings.Contains(out, "swank-mcp: the image is one that you run") || !strings.Contains(out, "(swank-mcp:undo-entry N)") {
		t.Errorf("undo: %d, %s", status, out)
	}
	harness.Says(t, d.Gets("ps"), ", attached")
}

// Code that has interrupts off is stopped, too: at the cost of the image, if that is ours.
func TestTerminalStopsWhatCannotBeStopped(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("deaf")
	harness.Want(t, s, "(defvar *kept* 1)", "=> *KEPT*")
	signal := await.NewGate(t)
	call := harness.SendCall(t, s, "(sb-sys:without-interrupts "+signal.Sign()+" (loop))")
	signal.Reached()
	harness.Says(t, d.Gets("stop"), "Stopped in default after ")
	harness.Says(t, harness.Answer(t, call).Text(), harness.StoppedHead, "The evaluation could not be stopped", "a new one takes its place")
	harness.Want(t, s, "*kept*", "=> 1…")
}

// In a terminal there are colours, unless the user wants none; what code prints has none.
func TestTerminalColours(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("colours")
	harness.Want(t, s, `(progn (format t "~C[31mred" (code-char 27)) 3)`, "…")
	for want, more := range map[string][]string{
		"| \\u{1B}[31mred\r\n\x1b[32m=> 3\x1b[0m\r\n": {"TERM=xterm"},
		"| \\u{1B}[31mred\r\n=> 3\r\n":                {"TERM=xterm", "NO_COLOR=1"},
	} {
		var out harness.Record
		cmd := await.Command(t, "script", "-qec", "exec "+harness.Run.Binary+" watch", "/dev/null") // its shell would end of Ctrl-C, too
		cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = slices.Concat(d.Env, more), d.Dir, &out, &out
		keys, err := cmd.StdinPipe() // the terminal's; it is there until the program has ended
		harness.Check(t, err)
		harness.Check(t, cmd.Start())
		shown := await.Until(func() bool { return strings.Contains(out.String(), want) }) == nil
		_, err = keys.Write([]byte("\x03")) // Ctrl-C
		harness.Check(t, err)
		if err := cmd.Wait(); err != nil || !shown {
			t.Errorf("%v: %v, %q", more, err, out.String())
		}
	}
}

// The person has calls wait and go on; the terminal that watches shows that.
func TestTerminalPauses(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("paused")
	harness.Want(t, s, "(defvar *x* 1)", "=> *X*")
	w := d.Watches()
	w.Shows(t, "=> *X*")
	harness.Says(t, d.Gets("pause"), "Calls that would evaluate wait now.", "swank-mcp resume "+fmt.Sprint(s.PID()))
	call := harness.Begun(t, s, "(incf *x*)")
	ps := ""
	if await.Until(func() bool { ps = d.Gets("ps"); return strings.Contains(ps, "1 waiting") }) != nil {
		t.Error("no call waits")
	}
	harness.Says(t, ps, "paused: swank-mcp resume")
	if out := d.Gets("resume"); out != "Calls go on.\n" {
		t.Errorf("resume: %s", out)
	}
	harness.WantAnswer(t, call, "=> 2")
	w.Shows(t, " paused\n", " resumed\n", "(incf *x*)\n=> 2")
	call = harness.Begun(t, s, "(sleep 100)")
	d.Gets("stop", "--json")
	harness.Says(t, harness.Answer(t, call).Text(), harness.StoppedHead)
	w.Shows(t, "person: stopped (sleep 100)")
}

// The person undoes a call, also while calls wait; the agent is told.
func TestTerminalUndoes(t *testing.T) {
	tier.More(t)
	t.Parallel()
	d := harness.NewDesk(t)
	s := d.Server("undone")
	if out, status := d.Types("undo"); status != 1 || !strings.Contains(out, "nothing was evaluated yet") {
		t.Errorf("undo of nothing: %d, %s", status, out)
	}
	checkpoints := func(n float64) {
		t.Helper()
		if await.Until(func() bool { return d.Checkpoints() >= n }) != nil {
			t.Fatal("no checkpoint is taken")
		}
	}
	harness.Want(t, s, "(defvar *x* 1)", "=> *X*")
	checkpoints(1)
	harness.Want(t, s, "(incf *x*)", "=> 2")
	w := d.Watches()
	d.Gets("pause")
	harness.Says(t, d.Gets("undo"), "Undone in default: (incf *x*)\nThe image is as it was at ")
	w.Shows(t, "person: undone: (incf *x*)")
	d.Gets("resume")
	text, _ := harness.Eval(t, s, "*x*")
	harness.Says(t, text, "=> 1\n", "; The person took the image back to ", "Undone: (incf *x*).")
	if out, status := d.Types("undo", "--steps", "5"); status != 1 || !strings.Contains(out, "no checkpoint lies before that; there are: ") {
		t.Errorf("undo of more than there is: %d, %s", status, out)
	}
	gate := await.NewGate(t)
	call := harness.Begun(t, s, gate.Hold())
	if out, status := d.Types("undo"); status != 1 || !strings.Contains(out, "it waits for (loop until (probe-file ") || !strings.Contains(out, "; to end that: swank-mcp stop ") {
		t.Errorf("undo while something runs: %d, %s", status, out)
	}
	gate.Open()
	harness.WantAnswer(t, call, "=> NIL\n; What was undone cannot be done again any more: (incf *x*).")
}

// However servers end, no socket stays that ps would show, and none after the next one.
func TestSocketsGo(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	for name, end := range map[string]func(s *harness.Server){
		"end of input": func(s *harness.Server) { harness.Check(t, s.Close(await.Ceiling)) },
		"SIGTERM":      func(s *harness.Server) { syscall.Kill(s.PID(), syscall.SIGTERM); <-s.Exited() },
		"SIGINT":       func(s *harness.Server) { syscall.Kill(s.PID(), syscall.SIGINT); <-s.Exited() },
	} {
		s := d.Server("ends")
		if n := len(d.Sockets()); n != 1 {
			t.Errorf("before %s: %v", name, d.Sockets())
		}
		end(s)
		if left := d.Sockets(); len(left) > 0 {
			t.Errorf("%s leaves %v", name, left)
		}
	}
	for _, next := range []func(){
		func() { d.Server("next") },
		func() {
			if out := d.Gets("ps"); strings.Count(out, "\n") != 2 { // the one before, and the head
				t.Errorf("ps says\n%s", out)
			}
		},
	} {
		s := d.Server("killed")
		syscall.Kill(s.PID(), syscall.SIGKILL)
		<-s.Exited()
		dead := fmt.Sprintf("%s/%d.sock", d.Dir, s.PID())
		if !slices.Contains(d.Sockets(), dead) {
			t.Errorf("%s is not among %v", dead, d.Sockets())
		}
		next()
		if slices.Contains(d.Sockets(), dead) {
			t.Errorf("%s has stayed", dead)
		}
	}
}

// Twenty servers at once are all there, under their own names.
func TestTwentyServers(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	harness.Check(t, harness.Run.Warm())
	var all sync.WaitGroup
	clients := make([]*wire.Client, 20)
	for i := range clients {
		all.Go(func() {
			c, err := wire.Start(wire.Options{Env: d.Env}, harness.Run.Binary)
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
	if st := d.Statuses(); len(st) != len(clients) {
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
	if left := d.Sockets(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A server works without a home, with nothing to write to, and with --no-transcript; ps says
// what is not kept.
func TestTranscriptNowhere(t *testing.T) {
	t.Parallel()
	d := harness.NewDesk(t)
	quiet := d.Server("quiet", "--no-transcript")
	harness.Want(t, quiet, ":before", "=> :BEFORE")
	w := d.Watches("quiet")
	w.Shows(t, "Ctrl-C")
	if await.Until(func() bool {
		harness.Want(t, quiet, ":quiet", "=> :QUIET")
		return strings.Contains(w.Out.String(), "=> :QUIET")
	}) != nil || strings.Contains(w.Out.String(), ":before") {
		t.Errorf("watch shows\n%s", w.Out.String())
	}
	if st := d.Statuses(); len(st[0]["transcript"].(map[string]any)) != 0 {
		t.Errorf("ps says %v", st)
	}
	if files, _ := filepath.Glob(d.Home + "/state/*/*"); len(files) > 0 {
		t.Errorf("there are %v", files)
	}
	harness.Check(t, quiet.Close(await.Ceiling))
	for _, more := range [][]string{{"HOME=/proc/nowhere", "XDG_STATE_HOME="}, {"XDG_STATE_HOME=/proc/nowhere"}} {
		d := harness.NewDesk(t, more...)
		s := d.Server("poor")
		harness.Want(t, s, ":poor", "=> :POOR")
		d.Watches().Shows(t, "=> :POOR")
		harness.Says(t, d.Gets("ps"), "the transcript is not written: mkdir /proc/nowhere")
	}
}

// Another user of the machine sees and steers nothing, even one who looks in the same
// directory.
func TestOtherUserOfTheMachine(t *testing.T) {
	t.Parallel()
	open, err := os.MkdirTemp("/tmp", "swo") // where the other one can enter
	harness.Check(t, err)
	t.Cleanup(func() { os.RemoveAll(open) })
	harness.Check(t, os.Chmod(open, 0o755))
	d := harness.NewDesk(t)
	d.Env = append(d.Env, harness.RunDirVariable+"="+filepath.Join(open, "sockets"))
	s := d.Server("mine")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	if st := d.Statuses(); len(st) != 1 {
		t.Errorf("the user sees %v", st)
	}
	binary := filepath.Join(open, "binary")
	// By another process: what this one writes, one that it starts meanwhile holds open, and
	// then the kernel does not execute it.
	harness.Check(t, await.Command(t, "install", "-m", "755", harness.Run.Binary, binary).Run())
	for _, command := range []string{"ps", "watch", "stop", "pause", "undo"} {
		cmd := await.Command(t, binary, command)
		cmd.Dir, cmd.Env = "/", d.Env
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		out, err := cmd.CombinedOutput()
		if !bytes.Contains(bytes.ToLower(out), []byte("no server")) {
			t.Errorf("%s of another user: %v: %s", command, err, out)
		}
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	if st := d.Statuses(); len(st) != 1 {
		t.Errorf("afterwards the user sees %v", st)
	}
}
