package docs

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"swank-mcp/e2e/harness"
)

// The examples of README and of the pages in docs are run: those of a page in
// their order, in one session of the built binary, each reply compared with
// what the page shows. A block of
//
//	lisp     is the code of a call of evaluate-lisp; or, if its first line is
//	         ";;;; name.lisp" or ";;;; ~/name.asd", a file
//	call     is another call: the tool's name and its arguments as JSON
//	request  is another request of the protocol: its method and parameters
//	text     is the reply to the block before
//	console  has commands behind "$ ", each with its output
//	sh       has commands that must end well; what "claude mcp add" and its like
//	         register is started and asked for its tools
//	json, toml, elisp
//	         is a client's configuration: its syntax is checked, and each server
//	         that it names is started
//
// "…" in a reply stands for any text. go test ./e2e/docs -run TestDocs -update
// rewrites the replies that differ; one with "…" is mended by hand. Comments on
// a line of their own speak to the test:
//
//	<!-- server: FLAGS -->     another server from here on
//	<!-- file: NAME is FILE --> a file that the reader has, which loads FILE of
//	                           the repository
//	<!-- not run: REASON -->   for the next block; maxNotRun limits how many

// page is one Markdown file whose examples are run.
type page struct {
	path  string // from the top of the repository
	text  string
	items []item
}

// item is a fenced block, or a comment that is addressed to the test.
type item struct {
	kind     string // the block's language, or "server" or "file"
	text     string // the block without its fences, or what the comment says
	line     int    // of the fence or the comment
	from, to int    // where text is in the page
	notRun   string // the reason why the block is not run
}

var (
	fence   = regexp.MustCompile("^```([a-z]*)$")
	comment = regexp.MustCompile(`^<!-- (not run|server|file):(.*) -->$`)
)

func readPage(path string) (*page, error) {
	data, err := os.ReadFile(harness.InTree(path))
	if err != nil {
		return nil, err
	}
	p := &page{path: path, text: string(data)}
	offset, reason := 0, ""
	var open *item
	for n, line := range strings.SplitAfter(p.text, "\n") {
		start := offset
		offset += len(line)
		line = strings.TrimSuffix(line, "\n")
		switch m := comment.FindStringSubmatch(line); {
		case open != nil && line == "```":
			open.to = start
			open.text = p.text[open.from:open.to]
			p.items = append(p.items, *open)
			open = nil
		case open != nil:
		case m != nil && m[1] == "not run":
			if reason = strings.TrimSpace(m[2]); reason == "" {
				return nil, fmt.Errorf("%s:%d: say why the block is not run", path, n+1)
			}
		case m != nil:
			p.items = append(p.items, item{kind: m[1], text: strings.TrimSpace(m[2]), line: n + 1})
		case strings.HasPrefix(strings.TrimSpace(line), "```"), strings.HasPrefix(strings.TrimSpace(line), "~~~"):
			f := fence.FindStringSubmatch(line)
			if f == nil {
				return nil, fmt.Errorf("%s:%d: a fence of an example is ``` and a language, at the start of a line: %q", path, n+1, line)
			}
			open = &item{kind: f[1], line: n + 1, from: offset, notRun: reason}
			reason = ""
		case strings.TrimSpace(line) != "" && reason != "":
			return nil, fmt.Errorf("%s:%d: no block follows \"not run: %s\"", path, n+1, reason)
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the block has no end", path, open.line)
	}
	return p, nil
}

// shows reports whether a shown reply says anything.
func shows(shown string) bool { return strings.Trim(shown, harness.Elided+" \n") != "" }

// An edit replaces a part of a page.
type edit struct {
	from, to int
	text     string
}

func (p *page) rewrite(edits []edit) error {
	text, at := "", 0
	for _, e := range edits {
		text += p.text[at:e.from] + e.text
		at = e.to
	}
	return os.WriteFile(harness.InTree(p.path), []byte(text+p.text[at:]), 0o644)
}
