package e2e

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

const emacsPage = "docs/howto/emacs.md"

// halfTyped is what a person has typed at their prompt while the agent works.
const halfTyped = `"(list 1 2 'half-typed "`

// beside is an Emacs with swank-mcp.el, in which a person has shared the Lisp, with a line half
// typed, and the server of an agent.
func beside(t *testing.T) (*emacs, *server) {
	t.Helper()
	e := newEmacs(t)
	address := e.share()
	e.keys("C-l", "(list 1 2 'half-typed", "Space")
	s := attachedTo(t, address, run.dir)
	want(t, s, "(+ 1 2)", "=> 3")
	e.shows("[agent idle]")
	e.shows("; swank-mcp: wire 1 (default) works in this Lisp now")
	return e, s
}

// share loads swank-mcp.el and has the person share their Lisp. It returns its address.
func (e *emacs) share() string {
	t := e.t
	t.Helper()
	there := inTree("emacs")
	e.elisp(`(progn (add-to-list 'load-path "` + there + `") (require 'swank-mcp)
 (setq swank-mcp-source-directory "` + e.dir + `/sources/") (global-set-key (kbd "<f5>") #'swank-mcp-stop) t)`)
	e.keys("C-x", "1", "M-x", "swank-mcp-share", "Enter")
	e.until("the command", func() bool { return strings.Contains(e.screen(), "Copied: claude mcp add lisp") })
	command := e.elisp("(substring-no-properties (current-kill 0))")
	m := regexp.MustCompile(`^"claude mcp add lisp -- swank-mcp --attach (127\.0\.0\.1:\d+)"$`).FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("swank-mcp-share has copied %s", command)
	}
	return m[1]
}

// shows waits until the screen has the text.
func (e *emacs) shows(text string) {
	e.t.Helper()
	e.until(text, func() bool { return strings.Contains(e.screen(), text) })
}

// untouched wants the half-typed line to be as it was, and no debugger.
func (e *emacs) untouched() {
	e.t.Helper()
	if got := e.elisp(`(with-current-buffer (slime-output-buffer) (substring-no-properties (slime-repl-current-input)))`); got != halfTyped {
		e.t.Errorf("the half-typed line is now %s", got)
	}
	if n := e.debuggers(); n != "0" {
		e.t.Errorf("%s debuggers are open", n)
	}
}

// differing is what differs from run to run, and between versions of Emacs: times, and most of
// the mode line.
var differing = regexp.MustCompile(`\d\d:\d\d:\d\d|working \d+s|-UUU:.*?\*\w|\*  +.*?\[| +|-+(\n|$)`)

// screenFrom is the screen from its first line on which from is to the mode line; "" if from
// is not there.
func (e *emacs) screenFrom(from string) string {
	lines := strings.Split(strings.TrimRight(e.screen(), "\n "), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	first := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, from) })
	if first < 0 {
		return ""
	}
	lines = lines[first:]
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "-UUU:") }); i >= 0 {
		lines = lines[:i+1] // without the echo area
	}
	return strings.Join(slices.CompactFunc(lines, func(a, b string) bool { return a == "" && b == "" }), "\n") + "\n"
}

// pictured wants the screen from there to come to be the block of that name on the page: what
// is seen first may be half drawn. With -update it writes it there.
func (e *emacs) pictured(name, from string) {
	e.t.Helper()
	e.keys("C-l")
	screen := ""
	e.until(from, func() bool { screen = e.screenFrom(from); return screen != "" })
	data, err := os.ReadFile(inTree(emacsPage))
	check(e.t, err)
	page := string(data)
	head := "<!-- screen: " + name + " -->\n```text\n"
	start := strings.Index(page, head)
	if start < 0 {
		e.t.Errorf("%s has no screen %s", emacsPage, name)
		return
	}
	start += len(head)
	end := start + strings.Index(page[start:], "```\n")
	if *update {
		check(e.t, os.WriteFile(inTree(emacsPage), []byte(page[:start]+screen+page[end:]), 0o644))
		return
	}
	plain := func(s string) string { return differing.ReplaceAllString(s, "…") }
	if await.Until(func() bool {
		if plain(page[start:end]) == plain(screen) {
			return true
		}
		time.Sleep(50 * time.Millisecond) // to look takes a process
		screen = e.screenFrom(from)
		return false
	}) != nil {
		e.t.Errorf("the screen %s of %s is\n%s\nand it is now\n%s", name, emacsPage, page[start:end], screen)
	}
}

// A person works in Emacs beside an agent, with keys. The page shows the same screens.
func TestEmacsBeside(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.until("the lamp", func() bool { return !strings.Contains(e.screen(), "Copied") })
	e.pictured("idle", "; swank-mcp: ")
	e.untouched()

	loop := running(t, s, "(loop)")
	e.shows("[agent working")
	e.keys("F5")
	wantAnswer(t, loop, stoppedHead+"…")
	e.shows("[agent idle]")
	e.untouched()

	e.keys("M-x", "swank-mcp-pause", "Enter")
	e.shows("[agent paused]")
	waits := sendCall(t, s, "(list :waited)")
	e.keys("M-x", "swank-mcp-resume", "Enter")
	wantAnswer(t, waits, "=> (:WAITED)")
	e.shows("[agent idle]")
	e.untouched()

	want(t, s, "(defun area (w h) (* w h))", "=> AREA")
	want(t, s, "(defun area (w h) (+ w h))", "=> AREA")
	wantError(t, s, "(area 6 'seven)", "[ERROR] TYPE-ERROR")
	e.keys("M-x", "swank-mcp-history", "Enter")
	e.shows("[ERROR] TYPE")
	e.keys("C-x", "1")
	e.pictured("history", "No")
	e.keys("Up", "=") // from the newest to what has redefined
	e.shows("-(defun area (w h) (* w h))")
	e.keys("C-x", "1")
	e.pictured("diff", "--- before")
	e.keys("q")
	e.shows("(list :waited)")
	e.keys("Enter")
	e.shows("[function AREA was before]")
	e.keys("q", "u")
	e.shows("Put back function AREA? (y or n)")
	e.keys("y")
	e.shows("Put back: function AREA")
	want(t, s, "(area 3 4)", "=> 12\n; The person has undone …")
	e.keys("g")
	e.shows("undone: function AREA")
	e.keys("q")
	e.untouched()

	// To the definition, from a buffer of the person's.
	e.keys("C-x", "b", "theirs.lisp", "Enter", "M-x", "lisp-mode", "Enter", "(area 1 2)", "C-a", "C-f", "M-.")
	e.shows(";;; Made by an agent, in no file of yours.")
	e.shows("(defun area (w h) (* w h))")
	e.keys("M-,", "C-x", "b", "*slime-repl sbcl*", "Enter")
	e.untouched()

	e.keys("3)", "Enter")
	e.shows("(1 2 HALF-TYPED 3)")
	check(t, s.Close(await.Ceiling))
	e.shows("; swank-mcp: wire 1 (default) has left")
	e.until("the end of the lamp", func() bool { return !strings.Contains(e.screen(), "[agent") })
}

// While the person is in their debugger, the lamp and the commands work, and the debugger is
// as it was.
func TestEmacsBesideDebugger(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.elisp(`(progn (slime-eval-async '(cl:error "theirs")) t)`)
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	text := `(with-current-buffer (car (sldb-buffers)) (buffer-substring-no-properties (point-min) (point-max)))`
	before := e.elisp(text)
	loop := running(t, s, "(loop)")
	e.shows("[agent working")
	e.keys("F5")
	wantAnswer(t, loop, stoppedHead+"…")
	e.keys("M-x", "swank-mcp-history", "Enter")
	e.shows("[STOPPED]")
	e.keys("q")
	if now := e.elisp(text); now != before || e.debuggers() != "1" {
		t.Errorf("the debugger showed\n%s\nand shows now\n%s", before, now)
	}
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	e.untouched()
}

// What Emacs has put into Swank's hooks is gone when Emacs disconnects.
func TestEmacsBesideLeavesHooks(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	hooks := "(list (count 'nil (remove-if-not 'symbolp swank::*new-connection-hook*) :key 'symbol-package)" +
		" (count 'nil (remove-if-not 'symbolp swank::*connection-closed-hook*) :key 'symbol-package))"
	want(t, s, hooks, "=> (1 2)")
	e.elisp("(slime-disconnect)")
	left := ""
	if await.Until(func() bool { left, _ = eval(t, s, hooks); return left == "=> (0 0)" }) != nil {
		t.Errorf("they are %s", left)
	}
}

// The person is asked, and the lamp says that the agent waits; they hand over their error, and
// take over the agent's.
func TestEmacsBesideHandingOver(t *testing.T) {
	tier.More(t)
	t.Parallel()
	e, s := beside(t)
	e.keys("M-x", "swank-mcp-ask", "Enter", "nothing", "Enter")
	e.shows("Agents need your yes for each evaluation")
	asks := sendCall(t, s, "(list :asked)")
	e.shows("evaluates: (list :asked)  Allow it? (y or n)")
	e.shows("[agent waits for you]")
	e.keys("y")
	wantAnswer(t, asks, "=> (:ASKED)")
	e.shows("[agent idle]")
	e.keys("M-x", "swank-mcp-ask", "Enter", "everything", "Enter")
	e.shows("Agents need no yes of yours")
	e.untouched()

	e.elisp(`(progn (slime-eval-async '(cl:error "theirs")) t)`)
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	e.shows("theirs")
	e.keys("M-x", "swank-mcp-show", "Enter")
	e.shows("The agents' next replies show obj-1")
	want(t, s, "5", "The person shows you obj-1: the error with which they are in their debugger\nSIMPLE-ERROR\ntheirs\n…=> 5")
	e.keys("q")
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })

	call(t, s, "evaluate-lisp", object{"code": "(list (+ 1 (restart-case (error \"the agent's\") (use-value (v) v))))", "on-error": "debug"})
	e.shows("[agent suspended]")
	e.keys("M-x", "swank-mcp-take-over", "Enter")
	e.until("the debugger", func() bool { return e.debuggers() == "1" })
	e.shows("the agent's")
	e.elisp(`(with-current-buffer (car (sldb-buffers)) (sldb-quit) nil)`)
	e.until("the debugger's end", func() bool { return e.debuggers() == "0" })
	e.shows("[agent suspended]")
	good(t, s, "abort-evaluation", object{"evaluation": 2})
	e.shows("[agent idle]")
	e.untouched()
}

// The time from the person's key to the agent's reply, whatever the agent does.
func TestEmacsStopsSoon(t *testing.T) {
	tier.Nightly(t)
	e, s := beside(t)
	var took []time.Duration
	for _, code := range []string{"(loop)", "(sleep 100)", "(loop (compile nil '(lambda (x) (list x x))))", "(loop repeat 100000000 do (write-line (make-string 100 :initial-element #\\x)))"} {
		for range 5 {
			call := running(t, s, code)
			time.Sleep(100 * time.Millisecond)
			began := time.Now()
			e.keys("F5")
			wantAnswer(t, call, stoppedHead+"…")
			took = append(took, time.Since(began))
		}
	}
	tookLog(t, "from the key to the reply", took)
	e.untouched()
}
