package sexp

import "bytes"

// opaqueWindow is how far the end of an opaque object is looked for by
// balancing. It keeps a frame full of unbalanced objects from taking quadratic
// time, and printed objects are shorter.
const opaqueWindow = 1024

// opaque returns the end of the #<…> at pos. A print method may write anything
// in there, so the end is a guess in two steps: first a ">" that leaves
// strings, parentheses and inner objects balanced; if there is none, the first
// ">" that a delimiter follows. The guess depends on nothing but the text from
// pos, and every end of the first step is a possible end of the second, so a
// [Raw] cut out by either scans the same alone.
func (s *scanner) opaque(pos int) (int, error) {
	if end := s.balanced(pos + 2); end > 0 {
		return end, nil
	}
	for i := pos + 2; ; i++ {
		n := bytes.IndexByte(s.buf[i:], '>')
		if n < 0 {
			return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
		}
		if i += n; s.delimited(i + 1) {
			return i + 1, nil
		}
	}
}

// delimited reports whether an opaque object may end before pos.
func (s *scanner) delimited(pos int) bool {
	return pos >= len(s.buf) || s.buf[pos] == ')' || isSpace(s.buf[pos])
}

// balanced scans the inside of an opaque object from pos. It returns the
// position after its ">", or 0 if there is none.
func (s *scanner) balanced(pos int) int {
	parens, inner := 0, 0
	window := scanner{buf: s.buf[:min(len(s.buf), pos+opaqueWindow)]}
	for ; pos < len(window.buf); pos++ {
		switch s.buf[pos] {
		case '"':
			next, err := window.text(pos)
			if err != nil {
				return 0
			}
			pos = next - 1
		case '\\':
			pos++
		case '(':
			parens++
		case ')':
			if parens--; parens < 0 {
				return 0
			}
		case '#':
			if pos+1 < len(s.buf) && s.buf[pos+1] == '<' {
				inner++
				pos++
			}
		case '>':
			switch {
			case inner > 0 && (s.delimited(pos+1) || s.buf[pos+1] == '>'):
				inner--
			case inner == 0 && parens == 0 && s.delimited(pos+1):
				return pos + 1
			}
		}
	}
	return 0
}
