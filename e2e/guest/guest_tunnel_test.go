package guest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
	"swank-mcp/swank"
)

// forward starts a tunnel to an address, and returns its process and its own address.
func forward(t *testing.T, to string) (*os.Process, string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), harness.ForwardTo+"="+to)
	out, err := cmd.StdoutPipe()
	harness.Check(t, err)
	harness.Check(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	address := ""
	if _, err := fmt.Fscanf(out, "listening %s\n", &address); err != nil {
		t.Fatal(err)
	}
	return cmd.Process, address
}

// A tunnel that is stopped is told after the time limit, by its process.
func TestGuestTunnel(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*n* 0)")
	tunnel, address := forward(t, p.Address)
	s := harness.AttachedTo(t, address, harness.Run.Dir)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	told := fmt.Sprintf("process %d (", tunnel.Pid)
	isTold := func(what, text string, began time.Time) {
		t.Helper()
		took := time.Since(began)
		t.Logf("%s: after %v", what, took)
		harness.Says(t, text, told, fmt.Sprintf("), through which the connection leads, is stopped (kill -CONT %d lets it go on)", tunnel.Pid))
	}

	// while something runs, which it does in time to be seen
	began := time.Now()
	pending := harness.SendTool(t, s, "evaluate-lisp", harness.Object{"code": "(loop (incf *n*) (sleep 1/100))", "timeout": 5})
	if await.Until(func() bool { return p.Says("(plusp *n*)") == "T" }) != nil {
		t.Fatal("it does not run")
	}
	stall.Stop(t, tunnel.Pid)
	r := harness.Answer(t, pending)
	isTold("running", r.Text(), began)

	// while nothing does; a look-up has a limit of its own
	began = time.Now()
	look := harness.SendTool(t, s, "list-packages", harness.Object{})
	text, _ := harness.EvalWithin(t, s, "(setf *n* :later)", 1)
	isTold("sent to it", text, began)
	r = harness.Answer(t, look)
	isTold("a look-up", r.Text(), began)

	tunnel.Signal(syscall.SIGCONT)
	all := ""
	if await.Until(func() bool {
		text, _ := harness.EvalWithin(t, s, "(+ 1 2)", 5)
		all += text + "\n"
		return text == "=> 3"
	}) != nil {
		t.Errorf("when it goes on: %s", all)
	}
	harness.Says(t, all, "did not answer ((loop (incf *n*) (sleep 1/100))) was stopped when it answered again", "did not answer ((setf *n* :later)) ")

	// more than a connection holds
	stall.Stop(t, tunnel.Pid)
	began = time.Now()
	text, _ = harness.EvalWithin(t, s, `(length "`+strings.Repeat("x", 15_000_000)+`")`, 1)
	isTold("15 MB", text, began)
	tunnel.Signal(syscall.SIGCONT)
	if await.Until(func() bool { text, _ := harness.EvalWithin(t, s, "(+ 1 2)", 5); return strings.HasPrefix(text, "=> 3") }) != nil {
		t.Error("it does not connect again")
	}
}

// Where Swank uses no threads, and the person is in the debugger, nothing is left
// there that would run when they leave it.
func TestGuestOfABusyPerson(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "(defvar cl-user::*n* 0)", ":dont-close", "t", ":style", ":fd-handler")
	s := harness.Attached(t, p)
	harness.Eval(t, s, "(incf *n*)")
	c := p.Connect()
	if _, err := c.Go(swank.Request{Form: swank.EvalAndGrabOutput(`(error "theirs")`)}); err != nil {
		t.Fatal(err)
	}
	if await.Until(func() bool { return len(c.Debugs()) == 1 }) != nil {
		t.Fatal("no debugger was opened for the person")
	}
	if text, _ := harness.EvalWithin(t, s, "(incf *n*)", 1); !strings.HasPrefix(text, "[TIMEOUT] Evaluation exceeded 1 second\nNothing was evaluated, and nothing of it will be. The image does not answer: Swank in it uses no threads, and is busy: ") {
		t.Errorf("beside a person's debugger: %s", text)
	}
	harness.Check(t, c.ThrowToToplevel(t.Context(), c.Debugs()[0].Thread))
	harness.Want(t, s, "*n*", "=> 1")
}
