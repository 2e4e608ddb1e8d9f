package docs

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/swank"
)

const peoplePage = "docs/howto/people.md"

// TestDocsPeople plays docs/howto/people.md: an agent makes the calls, and a person in whose
// image it works types the Lisp. A block of text after Lisp is what that prints, and its
// value. One that follows a call, or another text, is the oldest reply that was not shown.
func TestDocsPeople(t *testing.T) {
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	p := harness.NewPerson(t, "")
	s := harness.Attached(t, p)
	harness.Want(t, s, "(+ 1 2)", "=> 3") // the helper is there
	page, err := readPage(peoplePage)
	harness.Check(t, err)
	var calls []*wire.Pending
	typed := false
	var said string
	shown := 0
	for i, b := range page.items {
		switch b.kind {
		case "call":
			name, arguments, err := parseCall(b.text)
			harness.Check(t, err)
			done := p.Says(doneByAgents)
			calls = append(calls, harness.SendTool(t, s, name, arguments))
			typed = false
			if page.items[i+1].kind == "lisp" {
				begun(t, s, p, done)
			}
		case "lisp":
			said, typed = typedBy(t, p, b.text), true
		case "text":
			got := said
			if !typed {
				if len(calls) == 0 {
					t.Fatalf("%s:%d: no call is unanswered", peoplePage, b.line)
				}
				got, calls = harness.Answer(t, calls[0]).Text(), calls[1:]
			}
			if typed = false; !harness.Matches(b.text, got) {
				t.Errorf("%s:%d: the page shows\n%s\nand it is\n%s", peoplePage, b.line, b.text, got)
			}
			shown++
		}
	}
	if shown < 2 || len(calls) > 0 {
		t.Errorf("%d texts are shown, %d calls have no reply", shown, len(calls))
	}
}

// doneByAgents counts what agents have begun to evaluate.
const doneByAgents = "(length (swank-mcp:history-entries))"

// begun waits until a call that was sent runs or has run, when so much was done before; one
// that is paused does neither.
func begun(t *testing.T, s *harness.Server, p *harness.Person, done string) {
	t.Helper()
	if await.Until(func() bool {
		return p.Says(doneByAgents) != done || strings.Contains(harness.Good(t, s, "session-status", harness.Object{}), "Paused: ")
	}) != nil {
		t.Error("the call does not begin")
	}
	if await.Until(func() bool { return p.Says(compiling) == "NIL" }) != nil {
		t.Error("the call is compiled for ever")
	}
}

// compiling is true while a session's thread is in the compiler: an evaluation that is stopped
// there has another text.
const compiling = `(some (lambda (thread)
  (and (search "swank-mcp session" (sb-thread:thread-name thread))
       (let ((names :unknown))
         (ignore-errors
          (sb-thread:interrupt-thread thread
            (lambda () (setf names (mapcar #'first (sb-debug:list-backtrace))))))
         (loop repeat 100 while (eq names :unknown) do (sleep 0.01))
         (or (eq names :unknown)
             (some (lambda (name)
                     (and (symbolp name) (eq (symbol-package name) (find-package "SB-C"))))
                   names)))))
  (sb-thread:list-all-threads))`

// typedBy is what a REPL shows when the person types code.
func typedBy(t *testing.T, p *harness.Person, code string) string {
	t.Helper()
	var g swank.Grabbed
	if err := p.Connect().Call(t.Context(), swank.Request{Form: swank.EvalAndGrabOutput(code)}, &g); err != nil {
		t.Fatalf("the person's %s: %v", code, err)
	}
	return strings.TrimSpace(g.Output + strings.TrimSpace(g.Values))
}
