package syntax

import (
	"fmt"
	"strings"
)

// form says that a form is complete: it may complete the prefixes before it,
// and is one element of the list around them.
func (s *scanner) form() {
	if s.broken {
		return
	}
	for len(s.stack) > 0 {
		top := &s.stack[len(s.stack)-1]
		if top.list {
			top.elements++
			if top.dot > 0 {
				if top.dot++; top.dot == 3 {
					s.problem(s.pos(), "More than one form follows the dot in this list.")
				}
			}
			return
		}
		if top.wants--; top.wants > 0 {
			return
		}
		s.quasi -= top.quasi
		skipped := top.text == "#+" || top.text == "#-"
		s.stack = s.stack[:len(s.stack)-1]
		if n := len(s.stack); skipped && n > 0 && s.stack[n-1].list {
			// It may be read as nothing: (a . #+sbcl b #-sbcl c).
			if s.stack[n-1].dot > 0 {
				s.stack[n-1].dot = -1
			}
			return
		}
	}
	s.report.Forms++
	s.closed = s.line
}

func (s *scanner) prefix(p Pos, text string, wants, quasi int) {
	s.quasi += quasi
	s.stack = append(s.stack, open{Pos: p, text: text, wants: wants, quasi: quasi})
}

func (s *scanner) comma(p Pos) {
	s.next()
	text := ","
	if r := s.peek(); !s.end() && (r == '@' || r == '.') {
		text += string(s.next())
	}
	if s.quasi <= 0 {
		s.problem(p, "A comma stands outside of any backquote.")
		s.prefix(p, text, 1, 0)
		return
	}
	s.prefix(p, text, 1, -1)
}

func (s *scanner) dot(p Pos) {
	if n := len(s.stack); n == 0 || !s.stack[n-1].list || s.stack[n-1].text == "#(" {
		s.problem(p, "A dot stands where there is no list to end.")
		return
	}
	switch top := &s.stack[len(s.stack)-1]; {
	case top.elements == 0:
		s.problem(p, "Nothing stands before the dot in this list.")
	case top.dot > 0:
		s.problem(p, "This list has two dots.")
	default:
		top.dot = 1
	}
}

// close takes a closing parenthesis.
func (s *scanner) close(p Pos) {
	for len(s.stack) > 0 && !s.stack[len(s.stack)-1].list {
		top := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.quasi -= top.quasi
		s.problem(top.Pos, fmt.Sprintf("No form follows %s before the closing parenthesis at %d:%d.", top.text, p.Line, p.Column))
	}
	if len(s.stack) == 0 {
		s.problemHint(p, "This closing parenthesis closes nothing.", s.extra())
		return
	}
	top := s.stack[len(s.stack)-1]
	s.stack = s.stack[:len(s.stack)-1]
	if top.dot == 1 {
		s.problem(p, "No form follows the dot in this list.")
	}
	s.form()
}

// dispatch takes what begins with #.
func (s *scanner) dispatch(p Pos) {
	s.next()
	for !s.end() && s.peek() >= '0' && s.peek() <= '9' {
		s.next()
	}
	if s.end() {
		s.problem(p, "The text ends after #.")
		return
	}
	switch r := s.peek(); {
	case r == '(':
		s.next()
		s.stack = append(s.stack, open{Pos: p, text: "#(", list: true})
	case r == '\\':
		s.next()
		if !s.end() {
			s.next() // the character itself, which may be any: #\(
		}
		s.symbol(p) // the rest of a name
		s.form()
	case r == '"': // of some user's dispatch macro
		s.string(p)
	case r == '+' || r == '-':
		s.next()
		s.prefix(p, "#"+string(r), 2, 0)
	case strings.ContainsRune("'.,", r):
		s.next()
		s.prefix(p, "#"+string(r), 1, 0)
	case strings.ContainsRune("=aAcCsSpP", r) && s.opens():
		s.next()
		s.prefix(p, "#"+string(r), 1, 0)
	case r == '#': // #1#
		s.next()
		s.form()
	case r == '<':
		s.problem(p, "#< begins the printed form of an object, which cannot be read.")
		s.symbol(p)
		s.form()
	case r == ')' || blank(r) || r == '\n':
		s.problem(p, "A # stands before a blank or a closing parenthesis.")
	case strings.ContainsRune("*:bBoOxXrRaAcCsSpP", r):
		s.symbol(p)
		s.form()
	default:
		s.next()
		s.report.Unknown = append(s.report.Unknown, p)
	}
}

// opens reports whether a form begins right behind the next character, as in
// #s(…), #p"…" and #1=(…).
func (s *scanner) opens() bool {
	return s.text[s.at] == '=' || s.at+1 < len(s.text) && strings.IndexByte("(\"' \t\n", s.text[s.at+1]) >= 0
}

// finish tells what is still open at the end.
func (s *scanner) finish() {
	for _, o := range s.stack {
		if o.list {
			s.unclosed()
			return
		}
	}
	for _, o := range s.stack {
		s.problem(o.Pos, fmt.Sprintf("No form follows %s before the end of the text.", o.text))
	}
}
