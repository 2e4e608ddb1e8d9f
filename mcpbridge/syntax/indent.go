package syntax

import "fmt"

// What the indentation says. People and editors indent a line deeper than the
// list it stands in. So a line that begins at or left of the parenthesis of a
// list that is still open says that this list was meant to be closed before it;
// and a line that begins deeper than the margin after its top-level form has
// ended says that this was closed too early. Neither is asked unless the
// parentheses do not match.

// margin is a line whose first token stands where the open lists do not allow.
type margin struct {
	Pos
	last int  // last line of code before it
	list open // outermost open list that it should be outside of
	open int  // how many lists are open there, that one and those in it
}

// maxMargins bounds the lines remembered.
const maxMargins = 10_000

// look looks at the first token of a line. Lines that begin with a closing
// parenthesis or a # (of #+ in the first column) tell nothing.
func (s *scanner) look(r rune) {
	if r == ')' || r == '#' {
		return
	}
	p := s.pos()
	lists := 0
	for _, o := range s.stack {
		if o.list && o.Line < p.Line && p.Column <= o.Column {
			if len(s.margins) < maxMargins {
				s.margins = append(s.margins, margin{p, s.last, o, s.lists() - lists})
			}
			return
		}
		if o.list {
			lists++
		}
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

func (s *scanner) lists() (n int) {
	for _, o := range s.stack {
		if o.list {
			n++
		}
	}
	return n
}

// unclosed reports the lists that are open at the end.
func (s *scanner) unclosed() {
	var outer open
	missing := 0
	for _, o := range s.stack {
		if o.list {
			if missing++; missing == 1 {
				outer = o
			}
		}
	}
	message := "This list is never closed: 1 closing parenthesis is missing."
	if missing > 1 {
		message = fmt.Sprintf("This list is never closed: %d closing parentheses are missing.", missing)
	}
	for _, m := range s.margins {
		if m.list.Line < outer.Line || m.list.Line == outer.Line && m.list.Column < outer.Column {
			continue
		}
		s.problemHint(outer.Pos, message, &Hint{Line: m.Line, Last: m.last, Message: fmt.Sprintf(
			"Line %d begins in column %d, as if the list that begins at %d:%d were closed before it: look at the end of line %d.",
			m.Line, m.Column, m.list.Line, m.list.Column, m.last)})
		s.missing(m.open)
		return
	}
	s.problemHint(outer.Pos, message, &Hint{Line: s.line, Last: s.last, Message: fmt.Sprintf(
		"The indentation fits up to the end: look at the end of line %d.", s.last)})
	s.missing(missing)
}

// missing completes the problem that was reported last.
func (s *scanner) missing(n int) {
	if all := s.report.Problems; len(all) > 0 {
		all[len(all)-1].Missing = n
	}
}

// extra is the hint about a closing parenthesis too many.
func (s *scanner) extra() *Hint {
	m := s.inner
	if m == nil {
		return nil
	}
	s.inner = nil
	return &Hint{Line: m.Line, Last: m.last, Message: fmt.Sprintf(
		"Line %d is indented as if it belonged to the form before it, which ended in line %d: look there for a closing parenthesis too many.",
		m.Line, m.last)}
}
