//go:build unix

package harness

import (
	"strings"
)

// Steers does to the agent what a person can do, each time something else.
func (e *Emacs) Steers(s *Server, agent int) {
	t := e.t
	t.Helper()
	const does = "(prin1-to-string (progn %s))"
	says := func(code, answer string) {
		t.Helper()
		if got := e.Lisp(strings.Replace(does, "%s", code, 1)); !Fits(answer, got) {
			t.Errorf("%s answers %s, want %s", code, got, answer)
		}
	}
	switch agent % 5 {
	case 0:
		WantRuns(t, s, "(defun theirs (x s c) (list x s c 1))", "(defun theirs (x s c) (list x s c 2))")
		says("(swank-mcp:undo-entry (getf (first (last (swank-mcp:history-entries))) :number))", "…")
		says("(theirs 1 2 3)", "(1 2 3 1)")
		e.Keys("M-x", "swank-mcp-history", "Enter")
		e.Shows("(defun theirs")
		e.Keys("q")
	case 1:
		says("(swank-mcp:pause)", "…")
		waits := SendCall(t, s, "(list 1 2)")
		says("(swank-mcp:resume)", "…")
		WantAnswer(t, waits, "…=> (1 2)…")
	case 2:
		Call(t, s, "evaluate-lisp", Object{"code": "(list (theirs 1))", "on-error": "debug"})
		e.Keys("M-x", "swank-mcp-take-over", "Enter")
		e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
		e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
		e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	case 3:
		says("(swank-mcp:allow :nothing)", "…")
		asks := SendCall(t, s, "(list 3 4)")
		e.Shows("Allow it? (y or n)")
		e.Keys("y")
		WantAnswer(t, asks, "…=> (3 4)…")
		says("(swank-mcp:allow :everything)", "…")
		says("(swank-mcp:show (list 1 2))", "…")
		WillSay(t, s, "", "The person shows you obj-")
	case 4: // what it does is an endless loop
		e.Shows("[agent working")
		e.Keys("F5")
		e.Shows("[agent idle]")
	}
}
