package e2e

import (
	"strings"
	"testing"
)

// TestEmacsPeople: a person in a real Emacs stops the agent, pauses it, is asked, and shows the
// error that they are in; what they are typing stays.
func TestEmacsPeople(t *testing.T) {
	t.Parallel()
	e := newEmacs(t)
	s := attachedTo(t, e.address, run.dir)
	want(t, s, "(+ 1 2)", "=> 3")
	loop := running(t, s, "(loop)")
	e.keys("C-x", "1", "C-l", "(swank-mcp:stop)", "Enter")
	wantAnswer(t, loop, stoppedHead+"…")
	e.until("what was stopped", func() bool { return strings.Contains(e.screen(), "; Stopping 2 (default): (loop)") })

	e.types("(swank-mcp:pause)")
	waits := running(t, s, "(list :waited)")
	says(t, good(t, s, "session-status", object{}), "Paused: ")
	e.types("(swank-mcp:resume)")
	wantAnswer(t, waits, "=> (:WAITED)")

	e.types("(swank-mcp:allow :nothing)")
	e.keys("(list 1 2 'half-typed")
	asks := sendCall(t, s, "(list :asked)")
	e.until("the question", func() bool {
		return strings.Contains(e.screen(), "wire (default) evaluates: (list :asked)  Allow it? (y or n)")
	})
	e.keys("y")
	wantAnswer(t, asks, "=> (:ASKED)")
	if got := e.elisp(`(with-current-buffer (slime-output-buffer) (slime-repl-current-input))`); got != `"(list 1 2 'half-typed"` {
		t.Errorf("the half-typed line is now %s", got)
	}
	e.keys(")", "Enter")
	e.types("(swank-mcp:allow :everything)")

	e.types("(defun half (number) (declare (optimize (debug 3))) (let ((twice (* 2 number))) (/ twice 0)))")
	e.keys("(half 21)", "Enter")
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (slime-eval '(swank-mcp:show-error)) nil)`)
	want(t, s, "5", "The person shows you obj-1: the error with which they are in their debugger\nDIVISION-BY-ZERO\n…It is evaluation 1 for tools that look…\n\n=> 5")
	says(t, good(t, s, "get-backtrace", object{"evaluation": 1}), "(HALF 21)")
	says(t, good(t, s, "inspect-frame", object{"evaluation": 1, "frame": 1}), "NUMBER = 21", "TWICE = 42")
	if got := e.debuggers(); got != "1" {
		t.Errorf("%s debuggers are open", got)
	}
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	says(t, bad(t, s, "inspect-frame", object{"evaluation": 1, "frame": 1}), "it has ended")
	want(t, s, "(+ 1 2)", "=> 3")
}
