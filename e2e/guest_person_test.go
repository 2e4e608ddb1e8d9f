package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

// What a person does with the agent's threads is called by its name.
func TestGuestIsTouched(t *testing.T) {
	p := newPerson(t, "")
	s := attached(t, p)
	thread := `(find-if (lambda (thread) (eql 0 (search %q (sb-thread:thread-name thread)))) (sb-thread:list-all-threads))`
	named := func(name string) string { return strings.Replace(thread, "%q", `"`+name+`"`, 1) }

	// k in SLIME's list of threads
	want(t, s, "(+ 1 2)", "=> 3")
	pending, _ := running(t, s, "(loop (sleep 0.1))")
	p.says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	var r wire.Result
	if err := pending.Wait(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if part := "[ERROR] ABORTED\nSomebody told the thread that evaluates for this session to end: the person, with k in SLIME's list of threads"; !strings.Contains(r.Text(), part) {
		t.Errorf("after k: %s", r.Text())
	}
	want(t, s, "(+ 1 2)", "=> 3")

	// k while it waits
	p.says(`(sb-thread:terminate-thread ` + named("swank-mcp session default") + `)`)
	if text, _ := evalWithin(t, s, "(+ 1 2)", 3); text != "=> 3" {
		t.Errorf("after k on an idle thread: %s", text)
	}

	// abort in SLDB
	pending, _ = running(t, s, "(loop (sleep 0.1))")
	p.says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp session default") + ` (lambda () (abort))) 1)`)
	if err := pending.Wait(t.Context(), &r); err != nil {
		t.Fatal(err)
	}
	if part := "[ERROR] ABORTED\nThe ABORT restart of the evaluation was invoked: by its own code, or by the person, in a debugger."; !strings.Contains(r.Text(), part) {
		t.Errorf("after abort: %s", r.Text())
	}

	// a restart of a suspended one
	call(t, s, patience, "evaluate-lisp", map[string]any{"code": "(restart-case (error \"x\") (go-on () (values 42 100)))", "on-error": "debug"})
	p.says(`(progn (sb-thread:interrupt-thread ` + named("swank-mcp evaluation") + ` (lambda () (invoke-restart 'go-on))) 1)`)
	all := ""
	if part := "let it go on, and it ended with the values 42, 100"; !eventually(patience, func() bool {
		text, _ := eval(t, s, "(+ 1 2)")
		all += text + "\n"
		time.Sleep(50 * time.Millisecond)
		return strings.Contains(all, part)
	}) {
		t.Errorf("after a restart the replies have no %q:\n%s", part, all)
	}
}

// A helper that somebody has deleted is loaded again, and the image is the same.
func TestGuestHelperDeleted(t *testing.T) {
	p := newPerson(t, "")
	s := attached(t, p)
	want(t, s, "(defun ours () 1) 1", "=> 1")
	p.says("(delete-package :swank-mcp)")
	wantError(t, s, "(+ 1 2)", "[ERROR] HELPER-DELETED\nSomebody has deleted swank-mcp's helper, the package SWANK-MCP, from the attached Lisp. Nothing was evaluated.")
	text, _ := eval(t, s, "(ours)")
	if !strings.HasPrefix(text, "=> 1\n; Connected again to the same Lisp, and its helper was loaded anew") {
		t.Errorf("then: %s", text)
	}
	want(t, s, "(+ 1 2)", "=> 3")
}

// Texts that name what is there.
func TestGuestTexts(t *testing.T) {
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
	r := call(t, s, patience, "interrupt-thread", map[string]any{"thread": "control-thread"})
	if !strings.Contains(r.Text(), "It is not asked where it is, because that interrupts it") || strings.Contains(r.Text(), "Ending") {
		t.Errorf("a look at a thread of Swank's: %s", r.Text())
	}
	s.Close(patience)
	// another server that speaks Swank's protocol
	p.says(`(rename-package :swank :slynk)`)
	out, _ = exec.Command(run.binary, "doctor", "--attach", p.address).CombinedOutput()
	if !strings.Contains(string(out), "there is no package SWANK in that Lisp: it is the port of another server, Slynk (Sly's) for one") {
		t.Errorf("doctor of a port without Swank:\n%s", out)
	}
}
