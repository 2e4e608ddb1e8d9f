package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
)

// scanner goes over the text once, from left to right.
type scanner struct {
	*lexer
	begin place // of the token
	here  place // behind it

	stack  []open // what is open, outermost first
	quasi  int    // backquotes less commas around this place
	last   int    // line of the last code before this place
	margin int    // column in which the last top-level form began
	closed int    // line in which it ended, or 0

	margins []margin // lines that stand too far left, see indent.go
	inner   *margin  // a line that stands too far right
	quote   *Hint    // a string that runs over code, perhaps
	broken  bool     // the rest has been swallowed by something without an end, or was not looked at
	report  Report
}

// open is something that waits for its end: a list, or the forms of a prefix.
type open struct {
	start int32 // offset
	right int32 // the column of the list that stands most to the right, of this one and those around it
	lists int32 // how many lists there are, this one and those around it

	wants  int8 // forms a prefix still needs; 0: it is a list
	quasi  int8 // what it adds to scanner.quasi
	filled bool // the list has an element
	dot    int8 // elements after a dot, plus 1, up to manyAfterDot; 0: no dot; -1: who knows
}

const manyAfterDot = 3

func (o *open) isList() bool { return o.wants == 0 }

func (s *scanner) problem(p Pos, message string) { s.problemHint(p, message, nil) }

func (s *scanner) problemHint(p Pos, message string, h *Hint) {
	if s.reporting() {
		s.report.Problems = append(s.report.Problems, Problem{Pos: p, Message: message, Hint: h})
	}
}

// reporting reports whether the report has room for another problem.
func (s *scanner) reporting() bool { return len(s.report.Problems) < maxProblems }

// scan goes over the whole text.
func scan(text string, w *work) *scanner {
	s := &scanner{lexer: newLexer(text, w), here: beginning()}
	if len(text) > MaxText {
		s.report, s.broken = *tooLong(), true
		return s
	}
	for !s.broken {
		t := s.lexer.next()
		if t.kind == none {
			break
		}
		s.here.to(text, t.start)
		s.begin = s.here
		if s.fresh {
			s.look(text[t.start])
		}
		s.here.to(text, t.end)
		s.token(t)
	}
	switch {
	case s.over:
		s.stack, s.broken = nil, true
	case s.unended == '#':
		s.swallow("The comment #| that begins here has no |#.", nil)
	default:
		s.finish()
	}
	return s
}

// token takes one token.
func (s *scanner) token(t token) {
	if len(s.stack) == 0 {
		s.margin = s.begin.Column
	}
	p := s.begin.Pos
	switch s.act {
	case actOpen:
		s.push(open{})
	case actClose:
		s.close(p)
	case actOne:
		s.prefix(t)
	case actTwo:
		s.push(open{wants: 2})
	case actUnknown:
		if s.report.Macros++; len(s.report.Unknown) < maxProblems {
			s.report.Unknown = append(s.report.Unknown, p)
		}
	case actStray:
		s.problem(p, "A # stands before a blank or a closing parenthesis.")
	case actCut:
		s.problem(p, "The text ends after #.")
	case actString:
		s.runsOver(t)
		if s.unended != 0 {
			s.swallow(`The string that begins here has no closing ".`, s.quote)
			break
		}
		s.form()
	case actForm, actObject:
		s.named(t)
	}
	s.last = s.here.Line
}

// named takes a symbol, number or character.
func (s *scanner) named(t token) {
	text := s.text[t.start:t.end]
	if s.act == actObject {
		s.problem(s.begin.Pos, "#< begins the printed form of an object, which cannot be read.")
	}
	s.unseen(t)
	switch {
	case s.unended != 0:
		s.swallow("The symbol that begins here has no closing |.", nil)
	case text == ".":
		s.dot(s.begin.Pos)
	default:
		s.form()
	}
}

// swallow forgets what is open, because a string or comment without an end has
// swallowed the closing parentheses.
func (s *scanner) swallow(message string, h *Hint) {
	s.stack, s.broken = nil, true
	s.problemHint(posOf(s.text, s.from), message, h)
}

// runsOver notes the first line that begins with a parenthesis in the first string that
// has one.
func (s *scanner) runsOver(t token) {
	if s.quote != nil || !strings.Contains(s.text[t.start:t.end], "\n(") {
		return
	}
	p := s.begin.Pos
	for at := t.start; at < t.end-1; at++ {
		switch {
		case s.text[at] == '\\':
			at++
		case s.text[at] == '\n' && s.text[at+1] == '(':
			line := p.Line + strings.Count(s.text[t.start:at+1], "\n")
			s.quote = &Hint{Line: line, Last: p.Line, Message: fmt.Sprintf(
				"The string that begins at %d:%d runs over line %d, which begins with a parenthesis: look there for a missing or a stray quote.",
				p.Line, p.Column, line)}
			return
		}
	}
}

// unseen notes the characters of a symbol that are not seen or are seen as blanks.
func (s *scanner) unseen(t token) {
	p, bars := s.begin, false
	for at := t.start; at < t.end && s.reporting(); {
		r, n := rune(s.text[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s.text[at:])
		}
		switch {
		case r == '\\':
			n += runeLength(s.text, at+1)
		case r == '|':
			bars = !bars
		case !bars && r >= utf8.RuneSelf:
			if what := rawtext.Unseen(r); what != "" {
				p.to(s.text, at)
				s.problem(p.Pos, what+", stands here: for the reader it is part of a symbol.")
				s.report.Problems[len(s.report.Problems)-1].Unseen = true
			}
		}
		at += n
	}
}
