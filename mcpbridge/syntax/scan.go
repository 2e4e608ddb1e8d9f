package syntax

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"swank-mcp/mcpbridge/rawtext"
)

// scanner goes over the text once, from left to right.
type scanner struct {
	text         string
	at           int // byte offset
	line, column int // of it

	stack  []open // what is open, outermost first
	quasi  int    // backquotes less commas around this place
	last   int    // line of the last code before this place
	margin int    // column in which the last top-level form began
	closed int    // line in which it ended, or 0

	margins []margin // lines that stand too far left, see indent.go
	inner   *margin  // a line that stands too far right
	quote   *Hint    // a string that runs over code, perhaps
	broken  bool     // something that has no end has swallowed the rest
	keep    bool     // keep the tokens
	tokens  []token
	report  Report
}

// open is something that waits for its end: a list, or the forms of a prefix.
type open struct {
	Pos
	text  string // "(", "#(", "'", "#+", …
	list  bool
	wants int // forms a prefix still needs
	quasi int // what it adds to scanner.quasi

	elements int // of a list
	dot      int // elements after a dot, plus 1; 0: no dot; -1: who knows
}

func (s *scanner) pos() Pos { return Pos{s.line, s.column} }

func (s *scanner) peek() rune {
	r, _ := utf8.DecodeRuneInString(s.text[s.at:])
	return r
}

func (s *scanner) next() rune {
	r, n := utf8.DecodeRuneInString(s.text[s.at:])
	s.at += n
	if r == '\n' {
		s.line++
		s.column = 1
	} else {
		s.column++
	}
	return r
}

func (s *scanner) end() bool { return s.at >= len(s.text) }

func (s *scanner) problem(p Pos, message string) { s.problemHint(p, message, nil) }

func (s *scanner) problemHint(p Pos, message string, h *Hint) {
	if len(s.report.Problems) < maxProblems {
		s.report.Problems = append(s.report.Problems, Problem{Pos: p, Message: message, Hint: h})
	}
}

func (s *scanner) run() {
	if strings.HasPrefix(s.text, "#!") { // a script's first line
		s.skipLine()
	}
	fresh := true // nothing but blanks so far in this line
	for !s.end() {
		r := s.peek()
		switch {
		case r == '\n':
			s.next()
			fresh = true
			continue
		case blank(r):
			s.next()
			continue
		case r == ';':
			s.skipLine()
			continue
		}
		if fresh {
			s.look(r)
			fresh = false
		}
		s.token(r)
	}
	s.finish()
}

func (s *scanner) skipLine() {
	for !s.end() && s.peek() != '\n' {
		s.next()
	}
}

// token takes one token that is neither blank nor a line comment.
func (s *scanner) token(r rune) {
	p := s.pos()
	if strings.HasPrefix(s.text[s.at:], "#|") {
		s.comment(p)
		return
	}
	if len(s.stack) == 0 {
		s.margin = p.Column
	}
	start := s.at
	defer func() {
		s.last = s.line
		s.note(start, p)
	}()
	switch r {
	case '(':
		s.next()
		s.stack = append(s.stack, open{Pos: p, text: "(", list: true})
	case ')':
		s.next()
		s.close(p)
	case '"':
		s.string(p)
	case '\'':
		s.next()
		s.prefix(p, "'", 1, 0)
	case '`':
		s.next()
		s.prefix(p, "`", 1, 1)
	case ',':
		s.comma(p)
	case '#':
		s.dispatch(p)
	default:
		if text := s.symbol(p); text == "." {
			s.dot(p)
			return
		}
		s.form()
	}
}

// comment takes #|…|#, which nests.
func (s *scanner) comment(p Pos) {
	depth := 0
	for !s.end() {
		rest := s.text[s.at:]
		switch {
		case strings.HasPrefix(rest, "#|"):
			depth++
			s.next()
		case strings.HasPrefix(rest, "|#"):
			depth--
			s.next()
		}
		s.next()
		if depth == 0 {
			return
		}
	}
	s.swallowed()
	s.problem(p, "The comment #| that begins here has no |#.")
}

func (s *scanner) string(p Pos) {
	s.next()
	for !s.end() {
		switch s.next() {
		case '\\':
			if !s.end() {
				s.next()
			}
		case '"':
			s.form()
			return
		case '\n':
			if s.quote == nil && strings.HasPrefix(s.text[s.at:], "(") {
				s.quote = &Hint{Line: s.line, Last: p.Line, Message: fmt.Sprintf(
					"The string that begins at %d:%d runs over line %d, which begins with a parenthesis: look there for a missing or a stray quote.",
					p.Line, p.Column, s.line)}
			}
		}
	}
	s.swallowed()
	s.problemHint(p, `The string that begins here has no closing ".`, s.quote)
}

// symbol takes a symbol or number with its bars and backslashes, and returns
// its text.
func (s *scanner) symbol(p Pos) string {
	start := s.at
	for !s.end() {
		switch r := s.peek(); {
		case r == '\\':
			s.next()
			if !s.end() {
				s.next()
			}
		case r == '|':
			s.next()
			if !s.bars() {
				s.swallowed()
				s.problem(p, "The symbol that begins here has no closing |.")
				return s.text[start:s.at]
			}
		case blank(r) || r == '\n' || strings.ContainsRune("()\"';`,", r):
			return s.text[start:s.at]
		default:
			s.unseen(r)
			s.next()
		}
	}
	return s.text[start:s.at]
}

// unseen notes that r, which is not seen or seen as a blank, stands here in a symbol.
func (s *scanner) unseen(r rune) {
	what := rawtext.Unseen(r)
	if what == "" || s.broken || len(s.report.Problems) >= maxProblems {
		return
	}
	s.problem(s.pos(), what+", stands here: for the reader it is part of a symbol.")
	s.report.Problems[len(s.report.Problems)-1].Unseen = true
}

// bars goes behind the closing bar.
func (s *scanner) bars() bool {
	for !s.end() {
		switch s.next() {
		case '\\':
			if !s.end() {
				s.next()
			}
		case '|':
			return true
		}
	}
	return false
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == '\f' }

// swallowed forgets what is open, because a string or comment without an end has
// swallowed the closing parentheses.
func (s *scanner) swallowed() {
	s.stack, s.broken = nil, true
}
