package syntax

import (
	"fmt"
	"slices"
)

// form says that a form is complete: it may complete the prefixes before it,
// and is one element of the list around them.
func (s *scanner) form() {
	for len(s.stack) > 0 {
		top := &s.stack[len(s.stack)-1]
		if top.isList() {
			top.filled = true
			if top.dot > 0 && top.dot < manyAfterDot {
				if top.dot++; top.dot == manyAfterDot {
					s.problem(s.here.Pos, "More than one form follows the dot in this list.")
				}
			}
			return
		}
		if top.wants--; top.wants > 0 {
			return
		}
		s.quasi -= int(top.quasi)
		skipped := s.skips(top)
		s.stack = s.stack[:len(s.stack)-1]
		if n := len(s.stack); skipped && n > 0 && s.stack[n-1].isList() {
			// It may be read as nothing: (a . #+sbcl b #-sbcl c).
			if s.stack[n-1].dot > 0 {
				s.stack[n-1].dot = -1
			}
			return
		}
	}
	s.report.Forms++
	s.closed = s.here.Line
}

// push notes that o is open, which begins with the token.
func (s *scanner) push(o open) {
	if len(s.stack) == MaxDepth {
		s.stack, s.broken = nil, true
		s.problem(s.begin.Pos, fmt.Sprintf("Lists and prefixes are nested deeper than %d here. From here on nothing was checked.", MaxDepth))
		return
	}
	o.start = int32(s.begin.at)
	if n := len(s.stack); n > 0 {
		o.right, o.lists = s.stack[n-1].right, s.stack[n-1].lists
	}
	if o.isList() {
		o.right = max(o.right, int32(s.begin.Column))
		o.lists++
	}
	s.quasi += int(o.quasi)
	if len(s.stack) == cap(s.stack) {
		s.stack = slices.Grow(s.stack, 64+len(s.stack))
	}
	s.stack = append(s.stack, o)
}

// mark is what o begins with, without the number in #1=: "(", "#(", "'", "#+", …
func (s *scanner) mark(o *open) string {
	at := int(o.start)
	switch s.text[at] {
	case '#':
		at++
		for s.text[at] >= '0' && s.text[at] <= '9' {
			at++
		}
		return "#" + s.text[at:at+1]
	case ',':
		if next := s.text[at+1:]; next != "" && (next[0] == '@' || next[0] == '.') {
			return s.text[at : at+2]
		}
	}
	return s.text[at : at+1]
}

// skips reports whether o may be read as nothing.
func (s *scanner) skips(o *open) bool {
	mark := s.mark(o)
	return mark == "#+" || mark == "#-"
}

// prefix takes a token that is followed by a form.
func (s *scanner) prefix(t token) {
	o := open{wants: 1}
	switch s.text[t.start] {
	case '`':
		o.quasi = 1
	case ',':
		if s.quasi > 0 {
			o.quasi = -1
		} else {
			s.problem(s.begin.Pos, "A comma stands outside of any backquote.")
		}
	}
	s.push(o)
}

func (s *scanner) dot(p Pos) {
	n := len(s.stack)
	if n == 0 || !s.stack[n-1].isList() || s.text[s.stack[n-1].start] == '#' {
		s.problem(p, "A dot stands where there is no list to end.")
		return
	}
	switch top := &s.stack[n-1]; {
	case !top.filled:
		s.problem(p, "Nothing stands before the dot in this list.")
	case top.dot > 0:
		s.problem(p, "This list has two dots.")
	default:
		top.dot = 1
	}
}

// close takes a closing parenthesis.
func (s *scanner) close(p Pos) {
	for len(s.stack) > 0 && !s.stack[len(s.stack)-1].isList() {
		top := s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		s.quasi -= int(top.quasi)
		if s.reporting() {
			s.problem(posOf(s.text, int(top.start)), fmt.Sprintf("No form follows %s before the closing parenthesis at %d:%d.", s.mark(&top), p.Line, p.Column))
		}
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

// finish tells what is still open at the end.
func (s *scanner) finish() {
	if n := len(s.stack); n > 0 && s.stack[n-1].lists > 0 {
		s.unclosed()
		return
	}
	for _, o := range s.stack[:min(len(s.stack), maxProblems)] {
		s.problem(posOf(s.text, int(o.start)), fmt.Sprintf("No form follows %s before the end of the text.", s.mark(&o)))
	}
}
