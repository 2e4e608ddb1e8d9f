package emacs

import (
	"regexp"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// TestEmacsPeople: a person in a real Emacs stops the agent, pauses it, is asked, and shows the
// error that they are in; what they are typing stays.
func TestEmacsPeople(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e := harness.NewEmacs(t)
	s := harness.AttachedTo(t, e.Address, harness.Run.Dir)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	loop := harness.Begun(t, s, "(loop)")
	e.Keys("C-x", "1", "C-l", "(swank-mcp:stop)", "Enter")
	harness.WantAnswer(t, loop, harness.StoppedHead+"…")
	e.Until("what was stopped", func() bool { return strings.Contains(e.Screen(), "; Stopping 2 (default): (loop)") })

	e.Types("(swank-mcp:pause)")
	waits := harness.Begun(t, s, "(list :waited)")
	harness.Says(t, harness.Good(t, s, "session-status", harness.Object{}), "Paused: ")
	e.Types("(swank-mcp:resume)")
	harness.WantAnswer(t, waits, "=> (:WAITED)")

	e.Types("(swank-mcp:allow :nothing)")
	e.Keys("(list 1 2 'half-typed")
	input := `(with-current-buffer (slime-output-buffer) (slime-repl-current-input))`
	// The question takes the keys that come after it.
	e.Until("the half-typed line", func() bool { return e.Elisp(input) == `"(list 1 2 'half-typed"` })
	asks := harness.SendCall(t, s, "(list :asked)")
	e.Until("the question", func() bool {
		return strings.Contains(e.Screen(), "wire 1 (default) evaluates: (list :asked)  Allow it? (y or n)")
	})
	e.Keys("y")
	harness.WantAnswer(t, asks, "=> (:ASKED)")
	if got := e.Elisp(input); got != `"(list 1 2 'half-typed"` {
		t.Errorf("the half-typed line is now %s", got)
	}
	e.Keys(")", "Enter")
	e.Types("(swank-mcp:allow :everything)")

	e.Types("(defun half (number) (declare (optimize (debug 3))) (let ((twice (* 2 number))) (/ twice 0)))")
	e.Keys("(half 21)", "Enter")
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (slime-eval '(swank-mcp:show-error)) nil)`)
	harness.Want(t, s, "5", "The person shows you obj-1: the error with which they are in their debugger\nDIVISION-BY-ZERO\n…It is evaluation 1 for tools that look…\n\n=> 5")
	harness.Says(t, harness.Good(t, s, "get-backtrace", harness.Object{"evaluation": 1}), "(HALF 21)")
	harness.Says(t, harness.Good(t, s, "inspect-frame", harness.Object{"evaluation": 1, "frame": 1}), "NUMBER = 21", "TWICE = 42")
	if got := e.Debuggers(); got != "1" {
		t.Errorf("%s debuggers are open", got)
	}
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	harness.Says(t, harness.Bad(t, s, "inspect-frame", harness.Object{"evaluation": 1, "frame": 1}), "it has ended")
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}

// TestEmacsTakeOver: the agent's evaluation is suspended; the person takes it over in SLDB,
// changes a variable, and restarts the frame. The agent's next reply tells how it ended.
func TestEmacsTakeOver(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e := harness.NewEmacs(t)
	s := harness.AttachedTo(t, e.Address, harness.Run.Dir)
	harness.Want(t, s, "(defun share (number) (declare (optimize (debug 3))) (* 2 (/ 10 number)))", "=> SHARE")
	suspend := func() {
		t.Helper()
		harness.Says(t, harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(list (share 0) :shared)", "on-error": "debug"}).Text(), "DIVISION-BY-ZERO")
	}
	suspend()
	e.Types("(swank-mcp:take-over)")
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	var sldb string
	e.Until("its text", func() bool {
		sldb = e.Elisp(`(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties 1 (point-max)))`)
		return strings.Contains(sldb, "Backtrace")
	})
	harness.Says(t, sldb, "arithmetic error DIVISION-BY-ZERO", "Leave it suspended, for the agent.", "[RETRY] Evaluate this form again.", "[ABORT] Abort this evaluation.", "(SHARE 0)")
	// They see the frames of the program alone, also further out.
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (goto-char (point-max)) (ignore-errors (sldb-end-of-backtrace)) nil)`)
	sldb = e.Elisp(`(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties 1 (point-max)))`)
	_, frames, _ := strings.Cut(sldb, "Backtrace:")
	harness.SaysNot(t, frames, "SWANK", "EVAL", "--more--", "WITHOUT-INTERRUPTS", "THREAD")
	if n := len(regexp.MustCompile(`(?m)^ *\d+: `).FindAllString(strings.ReplaceAll(frames, `\n`, "\n"), -1)); n < 2 || n > 3 {
		t.Errorf("%d frames are shown:\n%s", n, frames)
	}
	for tool, args := range map[string]harness.Object{
		"inspect-frame":     {"frame": 0},
		"evaluate-in-frame": {"frame": 0, "code": "number"},
		"invoke-restart":    {"restart": "abort"},
	} {
		harness.Says(t, harness.Bad(t, s, tool, args), "the person is in the debugger with it")
	}
	harness.Says(t, harness.Good(t, s, "get-backtrace", harness.Object{}), "(SHARE 0)")
	harness.Want(t, s, "(+ 1 2)", "=> 3")

	// They quit, and it waits for the agent as before; then they take it over again.
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	harness.Says(t, harness.Good(t, s, "inspect-frame", harness.Object{"frame": 1}), "NUMBER = 0")
	e.Types("(swank-mcp:take-over 2)")
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	// A mistake of theirs opens another level, and is theirs.
	frame := `(with-current-buffer (car (sldb-buffers)) (slime-eval '(swank:eval-string-in-frame "(setf number 5)" 1 "COMMON-LISP-USER")))`
	harness.Says(t, e.Elisp(frame), "5")
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (slime-rex () ('(swank:restart-frame 1)) ((:ok _)) ((:abort _))) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	harness.WillSay(t, s, "", "; The suspended evaluation 1 ((list (share 0) :shared)) has ended: The person took it over, and it ended with the value", "(4 :SHARED).")

	suspend()
	e.Types("(swank-mcp:take-over)")
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	harness.Check(t, s.Close(await.Ceiling)) // it stays the person's
	if got := e.Debuggers(); got != "1" {
		t.Errorf("%s debuggers are open", got)
	}
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	e.Until("the end of the agent's threads", func() bool {
		return !strings.Contains(e.Lisp(`(format nil "~{~A ~}" (mapcar #'swank/backend:thread-name (swank/backend:all-threads)))`), "swank-mcp")
	})
	e.Types("(swank-mcp:take-over)")
	e.Until("the answer", func() bool {
		return strings.Contains(e.Elisp(`(with-current-buffer (slime-output-buffer) (buffer-substring-no-properties 1 (point-max)))`), "; No evaluation is suspended.")
	})
}
