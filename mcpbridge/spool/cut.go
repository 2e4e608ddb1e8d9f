package spool

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
)

// Cut returns text if it has at most limit characters. Else the whole goes to
// the spool, and the head and the tail are returned around one line that says
// how much is missing and how to read it. What nothing keeps counts as missing, and the
// line names it.
func (s *Spool) Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	chars := utf8.RuneCountInString(text)
	if chars <= limit {
		return text
	}
	const room = 250 // for the line
	each := (limit - room) / 2
	headEnd := lineBefore(text, rawtext.RuneOffset(text, each))
	tailStart := lineAfter(text, rawtext.RuneOffset(text, chars-each))
	head, tail := text[:headEnd], text[tailStart:]
	from := utf8.RuneCountInString(head)
	handle, kept := s.keep(text, chars)
	missing, lost := measure(text[headEnd:tailStart])
	if kept < tailStart {
		_, before := measure(text[headEnd:kept])
		beyond, _ := measure(text[kept:tailStart])
		lost = before + beyond
	}
	all, _ := measure(text)
	var b strings.Builder
	b.WriteString(head)
	if !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "; … %s of %s characters left out here; ", render.Count(missing), render.Count(all))
	if lost > 0 {
		fmt.Fprintf(&b, "%s of them were not kept and cannot be read; to read the others: ", render.Count(lost))
	} else {
		b.WriteString("to read them: ")
	}
	fmt.Fprintf(&b, "read-output {\"handle\": %q, \"offset\": %d} …\n", handle, from)
	b.WriteString(tail)
	return b.String()
}

// measure returns how many characters text stands for, and how many of these it lacks.
func measure(text string) (all, lost int64) {
	lost, own := render.Gaps(text)
	return int64(utf8.RuneCountInString(text)-own) + lost, lost
}

// near is how far, in bytes, a cut is moved to fall between lines.
const near = 400

func lineBefore(s string, i int) int {
	if n := strings.LastIndexByte(s[max(0, i-near):i], '\n'); n >= 0 {
		return max(0, i-near) + n + 1
	}
	return i
}

func lineAfter(s string, i int) int {
	if n := strings.IndexByte(s[i:min(len(s), i+near)], '\n'); n >= 0 {
		return i + n + 1
	}
	return i
}
