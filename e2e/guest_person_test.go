package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/sexp"
	"swank-mcp/swank"
)

// What a person does with the agent's threads is called by its name.
func TestGuestIsTouched(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	thread := `(find-if (lambda (thread) (eql 0 (search %q (sb-thread:thread-name thread)))) (sb-thread:list-all-threads))`
	named := func(name string) string { return strings.Replace(thread, "%q", `"`+name+`"`, 1) }

	// k in SLIME's list of threads
	want(t, s, "(+ 1 2)", "=> 3")
	pending := running(t, s, "(loop (sleep 0.1))")
	p.says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	wantAnswer(t, pending, "[ERROR] ABORTED\nSomebody told the thread that evaluates for this session to end: the person, with k in SLIME's list of threads…")
	want(t, s, "(+ 1 2)", "=> 3")

	// k while it waits
	p.says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	if text, _ := evalWithin(t, s, "(+ 1 2)", 20); text != "=> 3" {
		t.Errorf("after k on an idle thread: %s", text)
	}

	// abort in SLDB
	pending = running(t, s, "(loop (sleep 0.1))")
	p.says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp session default") + ` (lambda () (abort))) 1)`)
	wantAnswer(t, pending, "[ERROR] ABORTED\nThe ABORT restart of the evaluation was invoked: by its own code, or by the person, in a debugger.…")

	// a restart of a suspended one
	suspend(t, s, `(restart-case (error "x") (go-on () (values 42 100)))`)
	p.says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp evaluation") + ` (lambda () (invoke-restart 'go-on))) 1)`)
	all := ""
	if part := "let it go on, and it ended with the values 42, 100"; await.Until(func() bool {
		text, _ := eval(t, s, "(+ 1 2)")
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
	p := newPerson(t, "")
	s := attached(t, p)
	suspend(t, s, `(let ((x 42)) (restart-case (list (error "held ~D" x)) (go-on () (list x))))`)
	hold := func(thread string) *swank.Debug {
		t.Helper()
		// as d in SLIME's list of threads
		p.says(`(progn (swank:list-threads)
 (swank:debug-nth-thread (position-if (lambda (thread) (search "` + thread + `" (swank/backend:thread-name thread))) swank::*thread-list*)) 1)`)
		var open []*swank.Debug
		if await.Until(func() bool { open = p.connect().Debugs(); return len(open) == 1 }) != nil {
			t.Fatal("no debugger was opened for the person")
		}
		return open[0]
	}
	leave := func(d *swank.Debug) {
		t.Helper()
		if _, err := p.connect().Go(swank.Request{Form: sexp.Raw("(swank:sldb-continue)"), Thread: d.Thread}); err != nil {
			t.Fatal(err)
		}
		if await.Until(func() bool { return len(p.connect().Debugs()) == 0 }) != nil {
			t.Fatal("the person's debugger is still open")
		}
	}

	d := hold("swank-mcp evaluation")
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"inspect-frame", object{"frame": 0}},
		{"evaluate-in-frame", object{"frame": 0, "code": "1"}},
		{"invoke-restart", object{"restart": "go-on"}},
		{"step", object{}},
		{"abort-evaluation", object{"evaluation": 1}},
	} {
		wantReply(t, s, c.tool, c.args, "[ERROR] EVALUATION-BUSY\nEvaluation 1 takes no commands at the moment: somebody, a person in SLDB for one, has its thread in a debugger of their own, "+
			"until they leave that. Nothing was done, and nothing is lost.\n\nSend the same call again later.…")
	}
	says(t, good(t, s, "get-backtrace", object{"evaluation": 1}), "Evaluation 1 has been suspended for ")
	leave(d)
	says(t, good(t, s, "inspect-frame", object{"frame": 0}), "Frame 0 of evaluation 1: ")
	wantReply(t, s, "invoke-restart", object{"restart": "go-on"}, "=> (42)")

	suspend(t, s, `(error "held again")`)
	d = hold("swank-mcp evaluation")
	says(t, call(t, s, "reset-session", object{}).Text(), "a suspended evaluation is in somebody's debugger, a person's SLDB for one, and ends when that is left: ")
	leave(d)
	const threads = `(count-if (lambda (thread) (search "swank-mcp evaluation" (sb-thread:thread-name thread))) (sb-thread:list-all-threads))`
	if await.Until(func() bool { return p.says(threads) == "0" }) != nil {
		t.Errorf("after the reset %s of its threads are left", p.says(threads))
	}
	want(t, s, "(+ 1 2)", "=> 3")

	// threads of ours that wait for requests
	p.says("(defvar *n* 0)")
	for _, thread := range []string{"swank-mcp session", "swank-mcp looking"} {
		call(t, s, "list-packages", object{})
		d = hold(thread)
		if text, _ := evalWithin(t, s, "(incf *n*)", 20); !strings.HasPrefix(text, "=> ") {
			t.Errorf("while %s is held: %s", thread, text)
		}
		says(t, listPackages(t, s, object{}), "COMMON-LISP-USER")
		leave(d)
	}
	want(t, s, "*n*", "=> 2")
}

// A helper that somebody has deleted is loaded again, and the image is the same.
func TestGuestHelperDeleted(t *testing.T) {
	t.Parallel()
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(defun ours () 1) 1", "=> 1")
	p.says("(delete-package :swank-mcp)")
	wantError(t, s, "(+ 1 2)", "[ERROR] HELPER-DELETED\nSomebody has deleted swank-mcp's helper, the package SWANK-MCP, from the attached Lisp. Nothing was evaluated.")
	want(t, s, "(ours)", "=> 1\n; Connected again to the same Lisp, and its helper was loaded anew…")
	want(t, s, "(+ 1 2)", "=> 3")
}

// The texts of doctor and of interrupt-thread name what they have found.
func TestGuestTexts(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := newPerson(t, "")
	out, err := exec.Command(run.binary, "doctor", "--attach", p.address).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " --attach "+p.address+"\n") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	out, _ = exec.Command(run.binary, "doctor", "--attach-command", "exit 3").CombinedOutput()
	if text := string(out); strings.Contains(text, "attach with --attach 1") || !strings.Contains(text, "--attach-command 'ssh") {
		t.Errorf("doctor of a command that fails:\n%s", text)
	}
	s := attached(t, p)
	want(t, s, "(+ 1 2)", "=> 3")
	r := call(t, s, "interrupt-thread", object{"thread": "control-thread"})
	if !strings.Contains(r.Text(), "It is not asked where it is, because that interrupts it") || strings.Contains(r.Text(), "Ending") {
		t.Errorf("a look at a thread of Swank's: %s", r.Text())
	}
	s.Close(await.Ceiling)
	// another server that speaks Swank's protocol
	p.says(`(rename-package :swank :slynk)`)
	out, _ = exec.Command(run.binary, "doctor", "--attach", p.address).CombinedOutput()
	if !strings.Contains(string(out), "there is no package SWANK in that Lisp: it is the port of another server, Slynk (Sly's) for one") {
		t.Errorf("doctor of a port without Swank:\n%s", out)
	}
}
