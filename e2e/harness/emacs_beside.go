//go:build unix

package harness

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"swank-mcp/internal/await"
)

const emacsPage = "docs/howto/emacs.md"

// halfTyped holds the text at the person's prompt while the agent works.
const halfTyped = `"(list 1 2 'half-typed "`

// Share loads swank-mcp.el and has the person share their Lisp. It returns its address.
func (e *Emacs) Share() string {
	t := e.t
	t.Helper()
	there := InTree("emacs")
	e.Elisp(`(progn (add-to-list 'load-path "` + there + `") (require 'swank-mcp)
 (setq swank-mcp-source-directory "` + e.dir + `/sources/") (global-set-key (kbd "<f5>") #'swank-mcp-stop) t)`)
	e.Keys("C-x", "1", "M-x", "swank-mcp-share", "Enter")
	e.Until("the command", func() bool { return strings.Contains(e.Screen(), "Copied: claude mcp add lisp") })
	command := e.Elisp("(substring-no-properties (current-kill 0))")
	m := regexp.MustCompile(`^"claude mcp add lisp -- swank-mcp --attach (127\.0\.0\.1:\d+)"$`).FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("swank-mcp-share has copied %s", command)
	}
	return m[1]
}

// Shows waits until the screen has the text.
func (e *Emacs) Shows(text string) {
	e.t.Helper()
	e.Until(text, func() bool { return strings.Contains(e.Screen(), text) })
}

// Untouched wants the half-typed line to be as it was, and no debugger.
func (e *Emacs) Untouched() {
	e.t.Helper()
	if got := e.Elisp(`(with-current-buffer (slime-output-buffer) (substring-no-properties (slime-repl-current-input)))`); got != halfTyped {
		e.t.Errorf("the half-typed line is now %s", got)
	}
	if n := e.Debuggers(); n != "0" {
		e.t.Errorf("%s debuggers are open", n)
	}
}

// differing matches the text that changes from run to run, and between versions of Emacs: times, and most of
// the mode line.
var differing = regexp.MustCompile(`\d\d:\d\d:\d\d|working \d+s|-UUU:.*?\*\w|\*  +.*?\[| +|-+(\n|$)`)

// screenFrom is the screen from its first line on which from is to the mode line; "" if from
// is not there.
func (e *Emacs) screenFrom(from string) string {
	lines := strings.Split(strings.TrimRight(e.Screen(), "\n "), "\n")
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

// Pictured wants the screen from there to come to be the block of that name on the page: what
// is seen first may be half drawn. With -update it writes it there.
func (e *Emacs) Pictured(name, from string) {
	e.t.Helper()
	e.Keys("C-l")
	screen := ""
	e.Until(from, func() bool { screen = e.screenFrom(from); return screen != "" })
	data, err := os.ReadFile(InTree(emacsPage))
	Check(e.t, err)
	page := string(data)
	head := "<!-- screen: " + name + " -->\n```text\n"
	start := strings.Index(page, head)
	if start < 0 {
		e.t.Errorf("%s has no screen %s", emacsPage, name)
		return
	}
	start += len(head)
	end := start + strings.Index(page[start:], "```\n")
	if *Update {
		Check(e.t, os.WriteFile(InTree(emacsPage), []byte(page[:start]+screen+page[end:]), 0o644))
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
