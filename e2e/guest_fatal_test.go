package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// When a person's image dies, sits in SBCL's low-level debugger or is stopped, the
// replies say so.
func TestGuestFatal(t *testing.T) {
	tier.More(t)
	t.Parallel()
	wantAll := func(t *testing.T, text string, parts ...string) {
		t.Helper()
		says(t, text, parts...)
		saysNot(t, text, "secret")
	}
	t.Run("killed", func(t *testing.T) {
		p := newPerson(t, "")
		s := attached(t, p)
		want(t, s, "(+ 1 2)", "=> 3")
		pending := running(t, s, "(loop (sleep 0.1))")
		syscall.Kill(p.pid(), syscall.SIGKILL)
		r := answer(t, pending)
		wantAll(t, r.Text(), "[ERROR] IMAGE-DIED", "ended during this evaluation: its process ", " has ended. What was in it is gone.")
		text, _ := eval(t, s, "(+ 1 2)")
		wantAll(t, text, "[ERROR] NO-IMAGE", "the Lisp that was attached to is gone, its process ", " has ended")
		if await.Until(func() bool { return strings.Contains(status(t, s), "The connection before this one ended: ") }) != nil {
			t.Errorf("the status does not say how the connection ended:\n%s", status(t, s))
		}
	})
	for _, c := range []struct {
		name, more, want string
		harm             func(t *testing.T, p *person)
	}{
		{"stopped", "", " is stopped (fg in its terminal, or kill -CONT ", func(_ *testing.T, p *person) { syscall.Kill(p.pid(), syscall.SIGSTOP) }},
		{"low-level debugger", "(sb-ext:enable-debugger)", "at the prompt ldb> of its terminal", func(t *testing.T, p *person) {
			p.says(`(progn (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (make-array 1000) l))))) 1)`)
			if await.Until(func() bool { return strings.Contains(p.out.String(), "fatal error") }) != nil {
				t.Fatal("the person's Lisp did not come to ldb")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPerson(t, c.more)
			s := attached(t, p)
			want(t, s, "(+ 1 2)", "=> 3")
			c.harm(t, p)
			began := time.Now()
			text, _ := evalWithin(t, s, "(+ 1 2)", 1)
			t.Logf("answered after %v", time.Since(began))
			wantAll(t, text, "[TIMEOUT] Evaluation exceeded 1 second", "The whole image has stopped answering: its process ", c.want)
			if c.name != "stopped" {
				return
			}
			syscall.Kill(p.pid(), syscall.SIGCONT)
			if await.Until(func() bool { text, _ = eval(t, s, "(+ 1 2)"); return text == "=> 3" }) != nil {
				t.Errorf("when it goes on: %s", text)
			}
		})
	}
}
