package session

import (
	"regexp"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// An evaluation that waits for a lock until its time is up says who has it, and what
// to do; session-status does meanwhile.
func TestLockIsNamed(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	const doors = "interrupt-thread {\"thread\": \"[0-9]+\"} shows where that is; with \"action\": \"abort\" it ends the thread, and the lock is free\\."
	for _, c := range []struct{ name, setup, code, told, status, thread string }{
		{"SBCL's", `(let ((held nil)) (sb-thread:make-thread (lambda () (sb-c::with-world-lock () (setf held t) (sleep 1000))) :name "holder") (loop until held do (sleep 0.01)))`, "(defclass held () (a))",
			"It waited for SBCL's world lock, which classes, methods and parts of the compiler need\\. The thread [0-9]+ \"holder\" holds it\\. " + doors,
			"It waits for SBCL's world lock, held by thread [0-9]+ holder", "holder"},
		{"one of the program's", `(defvar *door* (sb-thread:make-mutex :name "door")) (let ((held nil)) (sb-thread:make-thread (lambda () (sb-thread:with-mutex (*door*) (setf held t) (sleep 1000))) :name "porter") (loop until held do (sleep 0.01)))`,
			"(sb-thread:with-mutex (*door*) 1)", "It waited for the lock \"door\"\\. The thread [0-9]+ \"porter\" holds it\\. " + doors, "", "porter"},
	} {
		harness.Eval(t, s, c.setup)
		if c.status != "" {
			harness.SendCall(t, s, c.code)
			got := ""
			if await.Until(func() bool { got = harness.Status(t, s); return regexp.MustCompile(c.status).MatchString(got) }) != nil {
				t.Errorf("%s: session-status has no\n%s\nbut\n%s", c.name, c.status, got)
			}
			harness.Good(t, s, "interrupt-thread", harness.Object{"thread": c.thread, "action": "abort"})
			harness.Eval(t, s, c.setup)
		}
		r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": c.code, "timeout": 2})
		if !r.IsError || !regexp.MustCompile("^\\[TIMEOUT\\] Evaluation exceeded 2 seconds\n"+c.told).MatchString(r.Text()) {
			t.Errorf("%s: answered (isError %v)\n%s\nwant\n%s", c.name, r.IsError, r.Text(), c.told)
		}
		harness.Says(t, harness.Good(t, s, "interrupt-thread", harness.Object{"thread": c.thread, "action": "abort"}), "It was ended")
		harness.Want(t, s, "(progn (defclass held () (a)) 42)", "=> 42")
	}
	// One that an evaluation holds which is suspended.
	harness.Suspend(t, s, `(sb-thread:with-mutex (*door*) (error "within"))`)
	harness.Says(t, harness.Bad(t, s, "evaluate-lisp", harness.Object{"code": "(sb-thread:with-mutex (*door*) 1)", "timeout": 2}),
		"holds it. An evaluation is suspended in it: session-status lists that, and abort-evaluation ends it.")
	harness.Good(t, s, "abort-evaluation", harness.Object{})
	harness.Want(t, s, "(sb-thread:with-mutex (*door*) 1)", "=> 1")
	l.GoesOn(t, s)
}
