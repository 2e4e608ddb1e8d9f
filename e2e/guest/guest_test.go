package guest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// However a bridge ends, nothing of it stays.
func TestGuestLeavesNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.LoadingPerson(t, harness.Environ(harness.Run.Dir), "")
	p.Says("(require :sb-posix)")
	was := p.Says(harness.Vitals)
	mailboxes := p.Says("(length swank/sbcl::*mailboxes*)")
	t.Logf("baseline: %s, %s mailboxes", was, mailboxes)
	for i := range tier.Tries(t, 20, 100) {
		s := harness.Attached(t, p)
		harness.Want(t, s, "(+ 1 2)", "=> 3")
		switch i % 5 {
		case 1: // while an evaluation runs
			s.GoTool("evaluate-lisp", harness.Object{"code": "(loop)", "timeout": 60}, wire.CallOptions{})
			s.GoTool("evaluate-lisp", harness.Object{"code": "(+ 1 2)", "timeout": 60}, wire.CallOptions{})
		case 2: // one with a lock and an error that it handles for ever
			s.GoTool("evaluate-lisp", harness.Object{"timeout": 60, "code": "(defvar *theirs* (sb-thread:make-mutex)) " +
				"(sb-thread:with-mutex (*theirs*) (loop (handler-case (error \"x\") (error () (sleep 1/100)))))"}, wire.CallOptions{})
		case 4: // suspended at an error, holding a lock
			s.GoTool("evaluate-lisp", harness.Object{"on-error": "debug", "code": "(defvar *theirs* (sb-thread:make-mutex)) " +
				"(sb-thread:with-mutex (*theirs*) (error \"x\"))"}, wire.CallOptions{})
		case 3: // in a debugger that nobody expects
			s.GoTool("evaluate-lisp", harness.Object{"timeout": 60, "code": "(let ((*debugger-hook* (lambda (c h) (declare (ignore c h)) (sleep 1000)))) (error \"x\"))"}, wire.CallOptions{})
		}
		if i%5 != 0 {
			_ = await.Until(func() bool { return strings.Contains(p.Says(harness.Vitals), "swank-mcp session") })
			time.Sleep(20 * time.Millisecond)
		}
		if i%10 == 9 {
			s.Close(await.Ceiling)
			continue
		}
		s.Kill()
	}
	asked := p.Returns(was)
	p.Wants("(or (not (boundp '*theirs*)) (sb-thread:mutex-owner (symbol-value '*theirs*)))", "NIL") // nobody holds the lock
	var before, after int
	fmt.Sscan(mailboxes, &before)
	fmt.Sscan(p.Says("(length swank/sbcl::*mailboxes*)"), &after)
	// The person's own requests leave one each, in threads that have ended.
	if after > before+asked+10 {
		t.Errorf("%d mailboxes, %d before and %d requests since", after, before, asked)
	}
	if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err != nil {
		t.Fatal(err)
	}
}

// What a guest has left on is off when it has gone, however it went: its traces,
// and the inspector's hold on objects; not the person's traces, not another guest's.
func TestGuestTakesBackItsTraces(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, `(progn
	  (defun cl-user::theirs (x) (1+ x)) (defun cl-user::plain (x) (1+ x)) (defun cl-user::others (x) (1+ x))
	  (trace cl-user::theirs))`)
	other := harness.Attached(t, p, "--session", "other")
	harness.Good(t, other, "trace-function", harness.Object{"functions": "others theirs"})
	harness.Good(t, other, "inspect-object", harness.Object{"code": "(list :other)"})
	// what is wrapped is another function then
	p.Says(`(defparameter cl-user::*functions* (mapcar #'symbol-function '(plain theirs others)))`)
	left := `(list (trace) (mapcar #'eq cl-user::*functions* (mapcar #'symbol-function '(plain theirs others)))
  (length swank-mcp::*traced*) (length swank-mcp::*evaluation-recorders*) (length swank-mcp::*guests*)
  (remove nil (mapcar #'swank-mcp::handle-object swank-mcp::*handles*)))`
	was := p.Says(left)
	t.Logf("baseline: %s", was)
	for _, c := range []struct {
		name string
		end  func(s *harness.Server)
	}{
		{"closed", func(s *harness.Server) { s.Close(await.Ceiling) }},
		{"killed", func(s *harness.Server) {
			s.Kill()
		}},
		{"killed in a traced call", func(s *harness.Server) {
			s.GoTool("evaluate-lisp", harness.Object{"code": "(plain (loop))", "timeout": 60}, wire.CallOptions{})
			s.Kill()
		}},
	} {
		s := harness.Attached(t, p)
		harness.Good(t, s, "trace-function", harness.Object{"functions": "plain theirs"})
		harness.Want(t, s, "(+ (plain 1) (theirs 2))", "…0: PLAIN returned 2\n0: (THEIRS 2)…")
		harness.Good(t, s, "inspect-object", harness.Object{"code": "(list :ours)"})
		if now := p.Says(left); now == was {
			t.Fatalf("%s: nothing was left on: %s", c.name, now)
		}
		c.end(s)
		now := ""
		if await.Until(func() bool { now = p.Says(left); return now == was }) != nil {
			t.Errorf("%s: left\n %s\nwant\n %s", c.name, now, was)
		}
	}
	harness.Says(t, p.Says("(with-output-to-string (*trace-output*) (theirs 5))"), "THEIRS 5", "returned 6")
	harness.Want(t, other, "(others 1)", "…0: OTHERS returned 2…")

	// A bridge whose connection broke is told when it is back.
	p.CutOff(other)
	harness.SaysNot(t, harness.Want(t, other, "(others 1)", "…the session is as it was; nothing is traced any more…"), "returned")
}

// Where Swank uses no threads, no thread can clean up when a guest goes: the next guest
// takes back what it has left on.
func TestGuestTakesBackWithoutThreads(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, "(defun cl-user::plain (x) (1+ x))", ":dont-close", "t", ":style", ":fd-handler")
	s := harness.Attached(t, p)
	harness.Good(t, s, "trace-function", harness.Object{"functions": "plain"})
	harness.Good(t, s, "inspect-object", harness.Object{"code": "(list :ours)"})
	left := "(list (length swank-mcp::*traced*) (count-if #'swank-mcp::handle-object swank-mcp::*handles*))"
	harness.Want(t, s, left, "=> (1 1)")
	s.Kill()
	next := harness.Attached(t, p)
	harness.Want(t, next, left, "=> (0 0)…")
}
