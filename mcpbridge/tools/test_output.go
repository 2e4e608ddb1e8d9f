package tools

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
)

const (
	longRun   = 100  // a longer run of one character is folded,
	runShown  = 10   // to so many of them
	tailShown = 4000 // characters of what tests have printed whose outcome is not known
)

// boundTestOutput calls the function of that name, unless all is wanted.
func (r *Request) boundTestOutput(t *lisp.Tests, res *lisp.Result) {
	if !r.Flag("verbose") {
		boundTestOutput(t, res, r.Spool)
	}
}

// boundTestOutput folds the runs of one character in what tests have printed. If their
// outcome is not known, what was printed at the end says the most: the rest is for
// read-output, with s not nil.
func boundTestOutput(t *lisp.Tests, res *lisp.Result, s *spool.Spool) {
	unknown := t.Passed+t.Failed+t.Errors+t.Skipped == 0 && t.Untested == "" && res.Failure == nil
	for _, out := range []*lisp.Text{&res.Stdout, &res.Stderr} {
		whole := *out
		out.Head, out.Tail = folded(out.Head), folded(out.Tail)
		if unknown && out.Omitted == 0 {
			out.Head = lastLines(out.Head, whole.Head, s)
		}
	}
}

// folded shortens the long runs of one character in text.
func folded(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		one := text[:n]
		count := 1
		for strings.HasPrefix(text[count*n:], one) {
			count++
		}
		if count > longRun && r != '\n' {
			fmt.Fprintf(&b, "%s… (%s more of these)", strings.Repeat(one, runShown), render.Count(count-runShown))
		} else {
			b.WriteString(text[:count*n])
		}
		text = text[count*n:]
	}
	return b.String()
}

// lastLines returns the end of text, from a line's beginning if there is one, after a line that
// says how to read whole.
func lastLines(text, whole string, s *spool.Spool) string {
	chars := utf8.RuneCountInString(text)
	if chars <= tailShown {
		return text
	}
	runes := []rune(text)
	tail := string(runes[len(runes)-tailShown:])
	if _, rest, ok := strings.Cut(tail, "\n"); ok && rest != "" {
		tail = rest
	}
	left := fmt.Sprintf("; … %s characters before this are left out", render.Count(chars-utf8.RuneCountInString(tail)))
	if s != nil {
		left += toRead(s, whole)
	}
	return left + " …\n" + tail
}
