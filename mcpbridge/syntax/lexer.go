package syntax

import (
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
	none       // the end of the text
)

// token is one token of the source, comments left out. Offsets are in bytes, end behind
// the last.
type token struct {
	kind       kind
	start, end int
	line, col  int // where it begins, from 1; only of those that tokens returns
}

// act is what a token does for the reader.
type act byte

const (
	actForm    act = iota // it is a form, and no string
	actString             // it is a string
	actOpen               // it begins a list
	actClose              // it ends one
	actOne                // a form follows
	actTwo                // two follow, of which the second may count as none
	actUnknown            // it calls a dispatch macro that is not of the standard
	actObject             // #<
	actStray              // a # before a blank or a closing parenthesis
	actCut                // a # at the end of the text
)

// lexer takes a text apart, from left to right. It keeps nothing of what it has seen: a
// token is found from its offset alone.
type lexer struct {
	text string
	at   int // behind the last token
	*work

	act     act  // of the last token
	fresh   bool // the last token is the first one of its line, and no comment stands before it
	unended byte // what has no end and so has swallowed the rest: " or | or # of a comment; or 0
	from    int  // where that begins
}

func newLexer(text string, w *work) *lexer { return &lexer{text: text, work: w, fresh: true} }

// next returns the next token, of the kind none at the end.
func (l *lexer) next() token {
	began := l.at
	l.blanks()
	t := token{kind: none, start: l.at, end: l.at}
	if l.at < len(l.text) && !l.over {
		l.at = l.behind()
		t.end = l.at
		t.kind = kindOf(l.text[t.start:t.end])
	}
	l.step(1 + l.at - began)
	return t
}

// tokenAfter returns the token behind the offset at.
func tokenAfter(text string, at int, w *work) token {
	l := lexer{text: text, at: at, work: w}
	return l.next()
}

// kindOf is the kind of the token that is written as text.
func kindOf(text string) kind {
	switch {
	case text == "(" || strings.HasPrefix(text, "#") && strings.Trim(text[1:], "0123456789") == "(":
		return opener
	case text == ")":
		return closer
	case text == "#+" || text == "#-":
		return skipPrefix
	case text == "'" || text == "`" || text == "," || text == ",@" || text == ",." || text == "#'" || text == "#." ||
		strings.HasPrefix(text, "#") && strings.HasSuffix(text, "=") || len(text) == 2 && strings.Contains("#p#P#s#S#c#C#a#A", text):
		return prefix
	}
	return atom
}

// blanks goes to the next token.
func (l *lexer) blanks() {
	if l.at == 0 && strings.HasPrefix(l.text, "#!") { // a script's first line
		l.line()
	} else if l.at > 0 {
		l.fresh = false
	}
	for l.at < len(l.text) {
		switch c := l.text[l.at]; {
		case c == '\n':
			l.at++
			l.fresh = true
		case blank(c):
			l.at++
		case c == ';':
			l.line()
		case c == '#' && strings.HasPrefix(l.text[l.at:], "#|"):
			l.comment()
			l.fresh = false
		default:
			return
		}
	}
}

// line goes to the end of the line.
func (l *lexer) line() {
	if n := strings.IndexByte(l.text[l.at:], '\n'); n >= 0 {
		l.at += n
	} else {
		l.at = len(l.text)
	}
}

// comment goes behind #|…|#, which nests.
func (l *lexer) comment() {
	begin, depth := l.at, 0
	for l.at < len(l.text) {
		switch rest := l.text[l.at:]; {
		case strings.HasPrefix(rest, "#|"):
			depth++
			l.at++
		case strings.HasPrefix(rest, "|#"):
			depth--
			l.at++
		}
		l.at++
		if depth == 0 {
			return
		}
	}
	l.swallowed('#', begin)
}

// swallowed says that what begins at the offset begin has no end.
func (l *lexer) swallowed(what byte, begin int) {
	l.unended, l.from, l.at = what, begin, len(l.text)
}

// behind returns the offset behind the token that begins here.
func (l *lexer) behind() int {
	switch l.text[l.at] {
	case '(':
		l.act = actOpen
	case ')':
		l.act = actClose
	case '\'', '`':
		l.act = actOne
	case ',':
		l.act = actOne
		if l.at+1 < len(l.text) && (l.text[l.at+1] == '@' || l.text[l.at+1] == '.') {
			return l.at + 2
		}
	case '"':
		l.act = actString
		return l.quoted(l.at, '"', l.at+1)
	case '#':
		return l.dispatch()
	default:
		return l.symbol(l.at)
	}
	return l.at + 1
}

// quoted returns the offset behind the string or bars that mark ends, and whose contents
// begin at the offset at; the token began at the offset begin.
func (l *lexer) quoted(begin int, mark byte, at int) int {
	for at < len(l.text) {
		switch l.text[at] {
		case '\\':
			at += 1 + runeLength(l.text, at+1)
		case mark:
			return at + 1
		default:
			at++
		}
	}
	l.swallowed(mark, begin)
	return len(l.text)
}

// runeLength is how many bytes the character at an offset has, 0 at the end.
func runeLength(text string, at int) int {
	if at >= len(text) {
		return 0
	}
	_, n := utf8.DecodeRuneInString(text[at:])
	return n
}

// symbol returns the offset behind a symbol or number whose rest begins at the offset at.
func (l *lexer) symbol(at int) int {
	l.act = actForm
	for at < len(l.text) {
		switch c := l.text[at]; {
		case c == '\\':
			at += 1 + runeLength(l.text, at+1)
		case c == '|':
			if at = l.quoted(l.at, '|', at+1); l.unended != 0 {
				return at
			}
		case terminates(c):
			return at
		default:
			at++
		}
	}
	return at
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\f' }

// terminates reports whether a symbol ends before c.
func terminates(c byte) bool {
	switch c {
	case '\n', '(', ')', '"', '\'', ';', '`', ',':
		return true
	}
	return blank(c)
}

// dispatch returns the offset behind what begins with a # here.
func (l *lexer) dispatch() int {
	at := l.at + 1
	for at < len(l.text) && l.text[at] >= '0' && l.text[at] <= '9' {
		at++
	}
	if at == len(l.text) {
		l.act = actCut
		return at
	}
	l.act = actForm
	switch c := l.text[at]; {
	case c == '(':
		l.act = actOpen
	case c == '\\': // the character itself may be any, as in #\(, and the rest of a name follows
		at++
		return l.symbol(at + runeLength(l.text, at))
	case c == '"': // of some user's dispatch macro
		l.act = actString
		return l.quoted(l.at, '"', at+1)
	case c == '+' || c == '-':
		l.act = actTwo
	case c == '\'' || c == '.' || c == ',':
		l.act = actOne
	case strings.IndexByte("=aAcCsSpP", c) >= 0 && l.formBehind(at):
		l.act = actOne
	case c == '#': // #1#
	case c == '<':
		at = l.symbol(at)
		l.act = actObject
		return at
	case c == ')' || blank(c) || c == '\n':
		l.act = actStray
		return at
	case strings.IndexByte("*:bBoOxXrRaAcCsSpP", c) >= 0:
		return l.symbol(at)
	default:
		l.act = actUnknown
		return at + runeLength(l.text, at)
	}
	return at + 1
}

// formBehind reports whether a form begins right behind the character at the offset at, as
// in #s(…), #p"…" and #1=(…).
func (l *lexer) formBehind(at int) bool {
	return l.text[at] == '=' || at+1 < len(l.text) && strings.IndexByte("(\"' \t\n", l.text[at+1]) >= 0
}
