package e2e

import (
	"regexp"
	"strings"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// TestEmacsPeople: a person in a real Emacs stops the agent, pauses it, is asked, and shows the
// error that they are in; what they are typing stays.
func TestEmacsPeople(t *testing.T) {
	tier.More(t)
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
	input := `(with-current-buffer (slime-output-buffer) (slime-repl-current-input))`
	// The question takes the keys that come after it.
	e.until("the half-typed line", func() bool { return e.elisp(input) == `"(list 1 2 'half-typed"` })
	asks := sendCall(t, s, "(list :asked)")
	e.until("the question", func() bool {
		return strings.Contains(e.screen(), "wire 1 (default) evaluates: (list :asked)  Allow it? (y or n)")
	})
	e.keys("y")
	wantAnswer(t, asks, "=> (:ASKED)")
	if got := e.elisp(input); got != `"(list 1 2 'half-typed"` {
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

// TestEmacsTakeOver: the agent's evaluation is suspended; the person takes it over in SLDB,
// changes a variable, and restarts the frame. The agent's next reply tells how it ended.
func TestEmacsTakeOver(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e := newEmacs(t)
	s := attachedTo(t, e.address, run.dir)
	want(t, s, "(defun share (number) (declare (optimize (debug 3))) (* 2 (/ 10 number)))", "=> SHARE")
	suspend := func() {
		t.Helper()
		says(t, call(t, s, "evaluate-lisp", object{"code": "(list (share 0) :shared)", "on-error": "debug"}).Text(), "DIVISION-BY-ZERO")
	}
	suspend()
	e.types("(swank-mcp:take-over)")
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	var sldb string
	e.until("its text", func() bool {
		sldb = e.elisp(`(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties 1 (point-max)))`)
		return strings.Contains(sldb, "Backtrace")
	})
	says(t, sldb, "arithmetic error DIVISION-BY-ZERO", "Leave it suspended, for the agent.", "[RETRY] Evaluate this form again.", "[ABORT] Abort this evaluation.", "(SHARE 0)")
	// They see the frames of the program alone, also further out.
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (goto-char (point-max)) (ignore-errors (sldb-end-of-backtrace)) nil)`)
	sldb = e.elisp(`(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties 1 (point-max)))`)
	_, frames, _ := strings.Cut(sldb, "Backtrace:")
	saysNot(t, frames, "SWANK", "EVAL", "--more--", "WITHOUT-INTERRUPTS", "THREAD")
	if n := len(regexp.MustCompile(`(?m)^ *\d+: `).FindAllString(strings.ReplaceAll(frames, `\n`, "\n"), -1)); n < 2 || n > 3 {
		t.Errorf("%d frames are shown:\n%s", n, frames)
	}
	for tool, args := range map[string]object{
		"inspect-frame":     {"frame": 0},
		"evaluate-in-frame": {"frame": 0, "code": "number"},
		"invoke-restart":    {"restart": "abort"},
	} {
		says(t, bad(t, s, tool, args), "the person is in the debugger with it")
	}
	says(t, good(t, s, "get-backtrace", object{}), "(SHARE 0)")
	want(t, s, "(+ 1 2)", "=> 3")

	// They quit, and it waits for the agent as before; then they take it over again.
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	says(t, good(t, s, "inspect-frame", object{"frame": 1}), "NUMBER = 0")
	e.types("(swank-mcp:take-over 2)")
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	// A mistake of theirs opens another level, and is theirs.
	frame := `(with-current-buffer (car (sldb-buffers)) (slime-eval '(swank:eval-string-in-frame "(setf number 5)" 1 "COMMON-LISP-USER")))`
	says(t, e.elisp(frame), "5")
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (slime-rex () ('(swank:restart-frame 1)) ((:ok _)) ((:abort _))) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	willSay(t, s, "", "; The suspended evaluation 1 ((list (share 0) :shared)) has ended: The person took it over, and it ended with the value", "(4 :SHARED).")

	suspend()
	e.types("(swank-mcp:take-over)")
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	check(t, s.Close(await.Ceiling)) // it stays the person's
	if got := e.debuggers(); got != "1" {
		t.Errorf("%s debuggers are open", got)
	}
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	e.until("the end of the agent's threads", func() bool {
		return !strings.Contains(e.lisp(`(format nil "~{~A ~}" (mapcar #'swank/backend:thread-name (swank/backend:all-threads)))`), "swank-mcp")
	})
	e.types("(swank-mcp:take-over)")
	e.until("the answer", func() bool {
		return strings.Contains(e.elisp(`(with-current-buffer (slime-output-buffer) (buffer-substring-no-properties 1 (point-max)))`), "; No evaluation is suspended.")
	})
}
