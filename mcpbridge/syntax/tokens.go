package syntax

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// kind is what a token is.
type kind byte

const (
	atom   kind = iota // symbol, number, string, character: one form
	opener             // "(", "#(" or "#3("
	closer
	prefix     // one form follows: ' ` , ,@ #' #. and more
	skipPrefix // #+ or #-: two forms follow, of which the second may count as none
)

// token is one token of the source, comments left out. Offsets are in bytes, end behind
// the last.
type token struct {
	kind       kind
	start, end int
	line, col  int // where it begins, from 1
}

// tokens takes text apart. It returns false for a text in which a string, a comment or a
// bar has no end: where the rest stands in it nobody knows.
func tokens(text string) ([]token, bool) {
	s := &scanner{text: text, line: 1, column: 1, keep: true}
	s.run()
	expandTabs(text, s.tokens)
	return s.tokens, !s.broken
}

// expandTabs gives the tokens the columns in which an editor shows them, with a tab stop
// every eight.
func expandTabs(text string, ts []token) {
	at, col := 0, 1
	for i := range ts {
		for ; at < ts[i].start; at++ {
			switch c := text[at]; {
			case c == '\n':
				col = 1
			case c == '\t':
				col += 8 - (col-1)%8
			case utf8.RuneStart(c):
				col++
			}
		}
		ts[i].col = col
	}
}

// note keeps the token that began at start, which stands at p, if tokens are kept.
func (s *scanner) note(start int, p Pos) {
	if !s.keep {
		return
	}
	t := token{start: start, end: s.at, line: p.Line, col: p.Column}
	switch text := s.text[start:s.at]; {
	case text == "(" || strings.HasPrefix(text, "#") && strings.Trim(text[1:], "0123456789") == "(":
		t.kind = opener
	case text == ")":
		t.kind = closer
	case text == "#+" || text == "#-":
		t.kind = skipPrefix
	case text == "'" || text == "`" || text == "," || text == ",@" || text == ",." || text == "#'" || text == "#." ||
		strings.HasPrefix(text, "#") && strings.HasSuffix(text, "=") || len(text) == 2 && strings.Contains("#p#P#s#S#c#C#a#A", text):
		t.kind = prefix
	}
	s.tokens = append(s.tokens, t)
}

// SameCode reports whether a and b, which are well-formed, differ in comments and blanks
// at most.
func SameCode(a, b string) bool {
	as, _ := tokens(a)
	bs, _ := tokens(b)
	return slices.EqualFunc(as, bs, func(x, y token) bool { return a[x.start:x.end] == b[y.start:y.end] })
}

// Ends returns the offsets behind the top-level forms of text, which is well-formed.
func Ends(text string) (ends []int) {
	ts, _ := tokens(text)
	depth := 0
	for _, t := range ts {
		switch t.kind {
		case opener:
			depth++
		case closer:
			depth--
		}
		if depth == 0 && t.kind != prefix && t.kind != skipPrefix {
			ends = append(ends, t.end)
		}
	}
	return ends
}
