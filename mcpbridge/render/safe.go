package render

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Safe makes text of the image safe to show, as the package comment says.
func Safe(s string) string {
	i := firstUnsafe(s)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for {
		b.WriteString(s[:i])
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b.WriteString("\ufffd")
		} else {
			b.WriteString(`\u{`)
			b.WriteString(strings.ToUpper(strconv.FormatInt(int64(r), 16)))
			b.WriteByte('}')
		}
		s = s[i+n:]
		if i = firstUnsafe(s); i < 0 {
			b.WriteString(s)
			return b.String()
		}
	}
}

// firstUnsafe returns the offset of the first character that must not be
// shown as it is, or -1.
func firstUnsafe(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 || r < 0xa0 || isBidiControl(r) {
			return i
		}
		i += n
	}
	return -1
}

// isBidiControl reports the embeddings, overrides and isolates, which make
// text read otherwise than it runs. The marks (LRM, RLM, ALM) cannot.
func isBidiControl(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}

// OneLine is s with every run of white space that holds a newline made one
// space, for the lines of a list.
func OneLine(s string) string {
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, " ")
}
