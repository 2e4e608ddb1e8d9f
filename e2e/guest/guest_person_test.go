package guest

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/sexp"
	"swank-mcp/swank"
)

// What a person does with the agent's threads is called by its name.
func TestGuestIsTouched(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	thread := `(find-if (lambda (thread) (eql 0 (search %q (sb-thread:thread-name thread)))) (sb-thread:list-all-threads))`
	named := func(name string) string { return strings.Replace(thread, "%q", `"`+name+`"`, 1) }

	// k in SLIME's list of threads
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	pending := harness.Running(t, s, "(loop (sleep 0.1))")
	p.Says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	harness.WantAnswer(t, pending, "[ERROR] ABORTED\nSomebody told the thread that evaluates for this session to end: the person, with k in SLIME's list of threads…")
	harness.Want(t, s, "(+ 1 2)", "=> 3")

	// k while it waits
	p.Says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	if text, _ := harness.EvalWithin(t, s, "(+ 1 2)", 20); text != "=> 3" {
		t.Errorf("after k on an idle thread: %s", text)
	}

	// abort in SLDB
	pending = harness.Running(t, s, "(loop (sleep 0.1))")
	p.Says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp session default") + ` (lambda () (abort))) 1)`)
	harness.WantAnswer(t, pending, "[ERROR] ABORTED\nThe ABORT restart of the evaluation was invoked: by its own code, or by the person, in a debugger.…")

	// a restart of a suspended one
	harness.Suspend(t, s, `(restart-case (error "x") (go-on () (values 42 100)))`)
	p.Says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp evaluation") + ` (lambda () (invoke-restart 'go-on))) 1)`)
	all := ""
	if part := "let it go on, and it ended with the values 42, 100"; await.Until(func() bool {
		text, _ := harness.Eval(t, s, "(+ 1 2)")
		all += text + "\n"
		time.Sleep(50 * time.Millisecond)
		return strings.Contains(all, part)
	}) != nil {
		t.Errorf("after a restart the replies have no %q:\n%s", part, all)
	}
}

// While a person has the thread of a suspended evaluation in a debugger of their
// own, commands about it are refused at once, and nothing is lost.
func TestGuestHoldsEvaluation(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Suspend(t, s, `(let ((x 42)) (restart-case (list (error "held ~D" x)) (go-on () (list x))))`)
	hold := func(thread string) *swank.Debug {
		t.Helper()
		// as d in SLIME's list of threads
		p.Says(`(progn (swank:list-threads)
 (swank:debug-nth-thread (position-if (lambda (thread) (search "` + thread + `" (swank/backend:thread-name thread))) swank::*thread-list*)) 1)`)
		var open []*swank.Debug
		if await.Until(func() bool { open = p.Connect().Debugs(); return len(open) == 1 }) != nil {
			t.Fatal("no debugger was opened for the person")
		}
		return open[0]
	}
	leave := func(d *swank.Debug) {
		t.Helper()
		if _, err := p.Connect().Go(swank.Request{Form: sexp.Raw("(swank:sldb-continue)"), Thread: d.Thread}); err != nil {
			t.Fatal(err)
		}
		if await.Until(func() bool { return len(p.Connect().Debugs()) == 0 }) != nil {
			t.Fatal("the person's debugger is still open")
		}
	}

	d := hold("swank-mcp evaluation")
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"inspect-frame", harness.Object{"frame": 0}},
		{"evaluate-in-frame", harness.Object{"frame": 0, "code": "1"}},
		{"invoke-restart", harness.Object{"restart": "go-on"}},
		{"step", harness.Object{}},
		{"abort-evaluation", harness.Object{"evaluation": 1}},
	} {
		harness.WantReply(t, s, c.tool, c.args, "[ERROR] EVALUATION-BUSY\nEvaluation 1 takes no commands at the moment: somebody, a person in SLDB for one, has its thread in a debugger of their own, "+
			"until they leave that. Nothing was done, and nothing is lost.\n\nSend the same call again later.…")
	}
	harness.Says(t, harness.Good(t, s, "get-backtrace", harness.Object{"evaluation": 1}), "Evaluation 1 has been suspended for ")
	leave(d)
	harness.Says(t, harness.Good(t, s, "inspect-frame", harness.Object{"frame": 0}), "Frame 0 of evaluation 1: ")
	harness.WantReply(t, s, "invoke-restart", harness.Object{"restart": "go-on"}, "=> (42)")

	harness.Suspend(t, s, `(error "held again")`)
	d = hold("swank-mcp evaluation")
	harness.Says(t, harness.Call(t, s, "reset-session", harness.Object{}).Text(), "a suspended evaluation is in somebody's debugger, a person's SLDB for one, and ends when that is left: ")
	leave(d)
	const threads = `(count-if (lambda (thread) (search "swank-mcp evaluation" (sb-thread:thread-name thread))) (sb-thread:list-all-threads))`
	if await.Until(func() bool { return p.Says(threads) == "0" }) != nil {
		t.Errorf("after the reset %s of its threads are left", p.Says(threads))
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")

	// threads of ours that wait for requests
	p.Says("(defvar *n* 0)")
	for _, thread := range []string{"swank-mcp session", "swank-mcp looking"} {
		harness.Call(t, s, "list-packages", harness.Object{})
		d = hold(thread)
		if text, _ := harness.EvalWithin(t, s, "(incf *n*)", 20); !strings.HasPrefix(text, "=> ") {
			t.Errorf("while %s is held: %s", thread, text)
		}
		harness.Says(t, harness.ListPackages(t, s, harness.Object{}), "COMMON-LISP-USER")
		leave(d)
	}
	harness.Want(t, s, "*n*", "=> 2")
}

// A helper that somebody has deleted is loaded again, and the image is the same.
func TestGuestHelperDeleted(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(defun ours () 1) 1", "=> 1")
	p.Says("(delete-package :swank-mcp)")
	harness.WantError(t, s, "(+ 1 2)", "[ERROR] HELPER-DELETED\nSomebody has deleted swank-mcp's helper, the package SWANK-MCP, from the attached Lisp. Nothing was evaluated.")
	harness.Want(t, s, "(ours)", "=> 1\n; Connected again to the same Lisp, and its helper was loaded anew…")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// The texts of doctor and of interrupt-thread name what they have found.
func TestGuestTexts(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	doctor := func(args ...string) (string, error) {
		cmd := await.Command(t, harness.Run.Binary, append([]string{"doctor"}, args...)...)
		cmd.Env = harness.Environ(harness.Run.Dir)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := doctor("--attach", p.Address)
	if err != nil || !strings.Contains(out, " --attach "+p.Address+"\n") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	out, _ = doctor("--attach-command", "exit 3")
	if strings.Contains(out, "attach with --attach 1") || !strings.Contains(out, "--attach-command 'ssh") {
		t.Errorf("doctor of a command that fails:\n%s", out)
	}
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	r := harness.Call(t, s, "interrupt-thread", harness.Object{"thread": "control-thread"})
	if !strings.Contains(r.Text(), "It is not asked where it is, because that interrupts it") || strings.Contains(r.Text(), "Ending") {
		t.Errorf("a look at a thread of Swank's: %s", r.Text())
	}
	s.Close(await.Ceiling)
	// another server that speaks Swank's protocol
	p.Says(`(rename-package :swank :slynk)`)
	out, _ = doctor("--attach", p.Address)
	if !strings.Contains(out, "there is no package SWANK in that Lisp: it is the port of another server, Slynk (Sly's) for one") {
		t.Errorf("doctor of a port without Swank:\n%s", out)
	}
}
