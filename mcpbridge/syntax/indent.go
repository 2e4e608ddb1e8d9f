package syntax

import (
	"fmt"
	"slices"
	"sort"
)

// What the indentation says. People and editors indent a line deeper than the
// list it stands in. So a line that begins at or left of the parenthesis of a
// list that is still open says that this list was meant to be closed before it;
// and a line that begins deeper than the margin after its top-level form has
// ended says that this was closed too early. Neither is asked unless the
// parentheses do not match.

// margin is a line whose first token stands where the open lists do not allow.
type margin struct {
	Pos
	last int // last line of code before it
	list int // offset of the outermost open list that it should be outside of
	open int // how many lists are open there, that one and those in it
}

// maxMargins bounds the lines remembered.
const maxMargins = 10_000

// look looks at the first token of a line, which begins with c. Lines that begin with a closing
// parenthesis or a # (of #+ in the first column) tell nothing.
func (s *scanner) look(c byte) {
	if c == ')' || c == '#' {
		return
	}
	p := s.begin.Pos
	// What is open began in a line before this one. The outermost list that does not stand
	// left of p is the first place where the rightmost column is not left of it.
	at := sort.Search(len(s.stack), func(i int) bool { return int(s.stack[i].right) >= p.Column })
	if at < len(s.stack) {
		if len(s.margins) < maxMargins {
			o := s.stack[at]
			s.margins = append(s.margins, margin{p, s.last, int(o.start), s.lists() - int(o.lists) + 1})
		}
		return
	}
	if len(s.stack) == 0 {
		switch {
		case p.Column <= s.margin:
			s.inner = nil
		case s.inner == nil && s.closed > 0:
			s.inner = &margin{Pos: p, last: s.closed}
		}
	}
}

// lists is how many lists are open.
func (s *scanner) lists() int {
	if len(s.stack) == 0 {
		return 0
	}
	return int(s.stack[len(s.stack)-1].lists)
}

// unclosed reports the lists that are open at the end.
func (s *scanner) unclosed() {
	if !s.reporting() {
		return
	}
	s.here.to(s.text, s.at)
	outer := s.stack[slices.IndexFunc(s.stack, func(o open) bool { return o.isList() })].start
	begins, missing := posOf(s.text, int(outer)), s.lists()
	message := "This list is never closed: 1 closing parenthesis is missing."
	if missing > 1 {
		message = fmt.Sprintf("This list is never closed: %d closing parentheses are missing.", missing)
	}
	for _, m := range s.margins {
		if m.list < int(outer) {
			continue
		}
		list := posOf(s.text, m.list)
		s.problemHint(begins, message, &Hint{Line: m.Line, Last: m.last, Message: fmt.Sprintf(
			"Line %d begins in column %d, as if the list that begins at %d:%d were closed before it: look at the end of line %d.",
			m.Line, m.Column, list.Line, list.Column, m.last)})
		s.missing(m.open)
		return
	}
	s.problemHint(begins, message, &Hint{Line: s.here.Line, Last: s.last, Message: fmt.Sprintf(
		"The indentation fits up to the end: look at the end of line %d.", s.last)})
	s.missing(missing)
}

// missing completes the problem that was reported last.
func (s *scanner) missing(n int) { s.report.Problems[len(s.report.Problems)-1].Missing = n }

// extra is the hint about a closing parenthesis too many.
func (s *scanner) extra() *Hint {
	m := s.inner
	if m == nil || !s.reporting() {
		return nil
	}
	s.inner = nil
	return &Hint{Line: m.Line, Last: m.last, Message: fmt.Sprintf(
		"Line %d is indented as if it belonged to the form before it, which ended in line %d: look there for a closing parenthesis too many.",
		m.Line, m.last)}
}
