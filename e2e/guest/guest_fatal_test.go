package guest

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
)

// When a person's image dies, sits in SBCL's low-level debugger or is stopped, the
// replies say so.
func TestGuestFatal(t *testing.T) {
	tier.More(t)
	t.Parallel()
	wantAll := func(t *testing.T, text string, parts ...string) {
		t.Helper()
		harness.Says(t, text, parts...)
		harness.SaysNot(t, text, "secret")
	}
	t.Run("killed", func(t *testing.T) {
		p := harness.NewPerson(t, "")
		s := harness.Attached(t, p)
		harness.Want(t, s, "(+ 1 2)", "=> 3")
		pending := harness.Running(t, s, "(loop (sleep 0.1))")
		syscall.Kill(p.Pid(), syscall.SIGKILL)
		r := harness.Answer(t, pending)
		wantAll(t, r.Text(), "[ERROR] IMAGE-DIED", "ended during this evaluation: its process ", " has ended. What was in it is gone.")
		text, _ := harness.Eval(t, s, "(+ 1 2)")
		wantAll(t, text, "[ERROR] NO-IMAGE", "the Lisp that was attached to is gone, its process ", " has ended")
		if await.Until(func() bool { return strings.Contains(harness.Status(t, s), "The connection before this one ended: ") }) != nil {
			t.Errorf("the status does not say how the connection ended:\n%s", harness.Status(t, s))
		}
	})
	for _, c := range []struct {
		name, more, want string
		harm             func(t *testing.T, p *harness.Person)
	}{
		{"stopped", "", " is stopped (fg in its terminal, or kill -CONT ", func(t *testing.T, p *harness.Person) { stall.Stop(t, p.Pid()) }},
		{"low-level debugger", "(sb-ext:enable-debugger)", "at the prompt ldb> of its terminal", func(t *testing.T, p *harness.Person) {
			p.Says(`(progn (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (make-array 1000) l))))) 1)`)
			if await.Until(func() bool { return strings.Contains(p.Out.String(), "fatal error") }) != nil {
				t.Fatal("the person's Lisp did not come to ldb")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := harness.NewPerson(t, c.more)
			s := harness.Attached(t, p)
			harness.Want(t, s, "(+ 1 2)", "=> 3")
			c.harm(t, p)
			began := time.Now()
			text, _ := harness.EvalWithin(t, s, "(+ 1 2)", 1)
			t.Logf("answered after %v", time.Since(began))
			wantAll(t, text, "[TIMEOUT] Evaluation exceeded 1 second", "The whole image has stopped answering: its process ", c.want)
			if c.name != "stopped" {
				return
			}
			syscall.Kill(p.Pid(), syscall.SIGCONT)
			if await.Until(func() bool { text, _ = harness.Eval(t, s, "(+ 1 2)"); return text == "=> 3" }) != nil {
				t.Errorf("when it goes on: %s", text)
			}
		})
	}
}
