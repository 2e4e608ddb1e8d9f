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
// how much is missing and how to read it.
func (s *Spool) Cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	chars := utf8.RuneCountInString(text)
	if chars <= limit {
		return text
	}
	const room = 200 // for the line
	each := (limit - room) / 2
	headEnd := lineBefore(text, rawtext.RuneOffset(text, each))
	tailStart := lineAfter(text, rawtext.RuneOffset(text, chars-each))
	head, tail := text[:headEnd], text[tailStart:]
	from := utf8.RuneCountInString(head)
	missing := chars - from - utf8.RuneCountInString(tail)
	handle := s.Add(text, chars)
	var b strings.Builder
	b.WriteString(head)
	if !strings.HasSuffix(head, "\n") {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "; … %s of %s characters left out here; to read them: read-output {\"handle\": %q, \"offset\": %d} …\n",
		render.Count(missing), render.Count(chars), handle, from)
	b.WriteString(tail)
	return b.String()
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
