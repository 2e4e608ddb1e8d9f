package emacs

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// beside is an Emacs with swank-mcp.el, in which a person has shared the Lisp, with a line half
// typed, and the server of an agent.
func beside(t *testing.T) (*harness.Emacs, *harness.Server) {
	t.Helper()
	e := harness.NewEmacs(t)
	address := e.Share()
	e.Keys("C-l", "(list 1 2 'half-typed", "Space")
	s := harness.AttachedTo(t, address, harness.Run.Dir)
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	e.Shows("[agent idle]")
	e.Shows("; swank-mcp: wire 1 (default) works in this Lisp now")
	return e, s
}

// A person works in Emacs beside an agent, with keys. The page shows the same screens.
func TestEmacsBeside(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.Until("the lamp", func() bool { return !strings.Contains(e.Screen(), "Copied") })
	e.Pictured("idle", "; swank-mcp: ")
	e.Untouched()

	loop := harness.Begun(t, s, "(loop)")
	e.Shows("[agent working")
	e.Keys("F5")
	harness.WantAnswer(t, loop, harness.StoppedHead+"…")
	e.Shows("[agent idle]")
	e.Untouched()

	e.Keys("M-x", "swank-mcp-pause", "Enter")
	e.Shows("[agent paused]")
	waits := harness.SendCall(t, s, "(list :waited)")
	e.Keys("M-x", "swank-mcp-resume", "Enter")
	harness.WantAnswer(t, waits, "=> (:WAITED)")
	e.Shows("[agent idle]")
	e.Untouched()

	harness.Want(t, s, "(defun area (w h) (* w h))", "=> AREA")
	harness.Want(t, s, "(defun area (w h) (+ w h))", "=> AREA")
	harness.WantError(t, s, "(area 6 'seven)", "[ERROR] TYPE-ERROR")
	e.Keys("M-x", "swank-mcp-history", "Enter")
	e.Shows("[ERROR] TYPE")
	e.Keys("C-x", "1")
	e.Pictured("history", "No")
	e.Keys("Up", "=") // from the newest to what has redefined
	e.Shows("-(defun area (w h) (* w h))")
	e.Keys("C-x", "1")
	e.Pictured("diff", "--- before")
	e.Keys("q")
	e.Shows("(list :waited)")
	e.Keys("Enter")
	e.Shows("[function AREA was before]")
	e.Keys("q", "u")
	e.Shows("Put back function AREA? (y or n)")
	e.Keys("y")
	e.Shows("Put back: function AREA")
	harness.Want(t, s, "(area 3 4)", "=> 12\n; The person has undone …")
	e.Keys("g")
	e.Shows("undone: function AREA")
	e.Keys("q")
	e.Untouched()

	// To the definition, from a buffer of the person's.
	e.Keys("C-x", "b", "theirs.lisp", "Enter", "M-x", "lisp-mode", "Enter", "(area 1 2)", "C-a", "C-f", "M-.")
	e.Shows(";;; Made by an agent, in no file of yours.")
	e.Shows("(defun area (w h) (* w h))")
	e.Keys("M-,", "C-x", "b", "*slime-repl sbcl*", "Enter")
	e.Untouched()

	e.Keys("3)", "Enter")
	e.Shows("(1 2 HALF-TYPED 3)")
	harness.Check(t, s.Close(await.Ceiling))
	e.Shows("; swank-mcp: wire 1 (default) has left")
	e.Until("the end of the lamp", func() bool { return !strings.Contains(e.Screen(), "[agent") })
}

// While the person is in their debugger, the lamp and the commands work, and the debugger is
// as it was.
func TestEmacsBesideDebugger(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.Elisp(`(progn (slime-eval-async '(cl:error "theirs")) t)`)
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	text := `(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties (point-min) (point-max)))`
	before := e.Elisp(text)
	loop := harness.Running(t, s, "(loop)")
	e.Shows("[agent working")
	e.Keys("F5")
	harness.WantAnswer(t, loop, harness.StoppedHead+"…")
	e.Keys("M-x", "swank-mcp-history", "Enter")
	e.Shows("[STOPPED]")
	e.Keys("q")
	if now := e.Elisp(text); now != before || e.Debuggers() != "1" {
		t.Errorf("the debugger showed\n%s\nand shows now\n%s", before, now)
	}
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	e.Untouched()
}

// What Emacs has put into Swank's hooks is gone when Emacs disconnects.
func TestEmacsBesideLeavesHooks(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	hooks := "(list (count 'nil (remove-if-not 'symbolp swank::*new-connection-hook*) :key 'symbol-package)" +
		" (count 'nil (remove-if-not 'symbolp swank::*connection-closed-hook*) :key 'symbol-package))"
	harness.Want(t, s, hooks, "=> (1 2)")
	e.Elisp("(slime-disconnect)")
	left := ""
	if await.Until(func() bool { left, _ = harness.Eval(t, s, hooks); return left == "=> (0 0)" }) != nil {
		t.Errorf("they are %s", left)
	}
}

// The person is asked, and the lamp says that the agent waits; they hand over their error, and
// take over the agent's.
func TestEmacsBesideHandingOver(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.Keys("M-x", "swank-mcp-ask", "Enter", "nothing", "Enter")
	e.Shows("Agents need your yes for each evaluation")
	asks := harness.SendCall(t, s, "(list :asked)")
	e.Shows("evaluates: (list :asked)  Allow it? (y or n)")
	e.Shows("[agent waits for you]")
	e.Keys("y")
	harness.WantAnswer(t, asks, "=> (:ASKED)")
	e.Shows("[agent idle]")
	e.Keys("M-x", "swank-mcp-ask", "Enter", "everything", "Enter")
	e.Shows("Agents need no yes of yours")
	e.Untouched()

	e.Elisp(`(progn (slime-eval-async '(cl:error "theirs")) t)`)
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	e.Shows("theirs")
	e.Keys("M-x", "swank-mcp-show", "Enter")
	e.Shows("The agents' next replies show obj-1")
	harness.Want(t, s, "5", "The person shows you obj-1: the error with which they are in their debugger\nSIMPLE-ERROR\ntheirs\n…=> 5")
	e.Keys("q")
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })

	harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(list (+ 1 (restart-case (error \"the agent's\") (use-value (v) v))))", "on-error": "debug"})
	e.Shows("[agent suspended]")
	e.Keys("M-x", "swank-mcp-take-over", "Enter")
	e.Until("the debugger", func() bool { return e.Debuggers() == "1" })
	e.Shows("the agent's")
	e.Elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.Until("the debugger's end", func() bool { return e.Debuggers() == "0" })
	e.Shows("[agent suspended]")
	harness.Good(t, s, "abort-evaluation", harness.Object{"evaluation": 2})
	e.Shows("[agent idle]")
	e.Untouched()
}

// The time from the person's key to the agent's reply, whatever the agent does.
func TestEmacsStopsSoon(t *testing.T) {
	tier.Nightly(t)
	e, s := beside(t)
	var took []time.Duration
	for _, code := range []string{"(loop)", "(sleep 100)", "(loop (compile nil '(lambda (x) (list x x))))", "(loop repeat 100000000 do (write-line (make-string 100 :initial-element #\\x)))"} {
		for range 5 {
			call := harness.Running(t, s, code)
			began := time.Now()
			e.Keys("F5")
			harness.WantAnswer(t, call, harness.StoppedHead+"…")
			took = append(took, time.Since(began))
		}
	}
	harness.TookLog(t, "from the key to the reply", took)
	e.Untouched()
}
