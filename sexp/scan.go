package sexp

import (
	"bytes"
	"unicode/utf8"
)

// scanner finds where tokens and data end. Its methods take and return
// positions in buf, allocate nothing on success, and are the only judge of
// syntax: everything that decodes runs behind a successful scan.
type scanner struct {
	buf []byte
	// safe restricts the grammar to what this package is willing to send.
	safe bool
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

// endsToken reports whether c ends a token: white space or a terminating
// macro character.
func endsToken(c byte) bool {
	switch c {
	case ' ', '\n', '\t', '\r', '\f', '(', ')', '"', '\'', ';', '`', ',':
		return true
	}
	return false
}

func (s *scanner) space(pos int) int {
	for pos < len(s.buf) && isSpace(s.buf[pos]) {
		pos++
	}
	return pos
}

// datum returns the end of the datum that begins at or after pos, inside depth
// open lists.
func (s *scanner) datum(pos, depth int) (int, error) {
	pos = s.space(pos)
	if pos >= len(s.buf) {
		return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
	}
	switch s.buf[pos] {
	case '(':
		return s.list(pos, pos+1, depth, true)
	case ')':
		return 0, syntaxAt(pos, errClose)
	case '"':
		return s.text(pos)
	case '\'':
		return s.nested(pos, pos+1, depth)
	case ';', '`', ',':
		return 0, syntaxAt(pos, errMacro)
	case '#':
		return s.dispatch(pos, depth)
	}
	end, _, err := s.token(pos)
	return end, err
}

// one checks that the whole input is one datum with white space around it.
func (s *scanner) one() error {
	end, err := s.datum(0, 0)
	if err != nil {
		return err
	}
	if end = s.space(end); end != len(s.buf) {
		return syntaxAt(end, errTrailing)
	}
	return nil
}

// nested scans the one datum after a prefix that begins at start.
func (s *scanner) nested(start, pos, depth int) (int, error) {
	if depth >= MaxDepth {
		return 0, syntaxAt(start, ErrDepth)
	}
	return s.datum(pos, depth+1)
}

// list scans the elements from pos, behind the parenthesis, and the closing
// one. start is the first byte of the list with its prefix.
func (s *scanner) list(start, pos, depth int, dotted bool) (int, error) {
	if depth >= MaxDepth {
		return 0, syntaxAt(start, ErrDepth)
	}
	for n := 0; ; n++ {
		pos = s.space(pos)
		if pos >= len(s.buf) {
			return 0, withinIndex(syntaxAt(pos, ErrUnexpectedEnd), n)
		}
		if s.buf[pos] == ')' {
			return pos + 1, nil
		}
		if s.isDot(pos) {
			if n == 0 || !dotted {
				return 0, withinIndex(syntaxAt(pos, errDotPlace), n)
			}
			end, err := s.tail(pos, depth+1)
			if err != nil {
				return 0, withinIndex(err, n)
			}
			return end, nil
		}
		end, err := s.datum(pos, depth+1)
		if err != nil {
			return 0, withinIndex(err, n)
		}
		pos = end
	}
}

// tail scans the dot at pos, the datum after it and the closing parenthesis.
func (s *scanner) tail(pos, depth int) (int, error) {
	pos = s.space(pos + 1)
	if pos < len(s.buf) && s.buf[pos] == ')' {
		return 0, syntaxAt(pos, errDotNothing)
	}
	pos, err := s.datum(pos, depth)
	if err != nil {
		return 0, err
	}
	pos = s.space(pos)
	switch {
	case pos >= len(s.buf):
		return 0, syntaxAt(pos, ErrUnexpectedEnd)
	case s.buf[pos] != ')':
		return 0, syntaxAt(pos, errDotMore)
	}
	return pos + 1, nil
}

func (s *scanner) isDot(pos int) bool {
	return s.buf[pos] == '.' && (pos+1 == len(s.buf) || endsToken(s.buf[pos+1]))
}

// text scans the string at pos. The next quote is looked for only once the
// scan has passed the last one found, so many escapes cost linear time.
func (s *scanner) text(pos int) (int, error) {
	pos++
	quote := -1
	for {
		if quote < pos {
			i := bytes.IndexByte(s.buf[pos:], '"')
			if i < 0 {
				return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
			}
			quote = pos + i
		}
		i := bytes.IndexByte(s.buf[pos:quote], '\\')
		if i < 0 {
			return quote + 1, nil
		}
		pos += i + 2
		if pos > len(s.buf) {
			return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
		}
	}
}

// dispatch scans the datum at pos, which begins with "#".
func (s *scanner) dispatch(pos, depth int) (int, error) {
	if pos+1 >= len(s.buf) {
		return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
	}
	switch c := s.buf[pos+1]; {
	case c == '(':
		return s.list(pos, pos+2, depth, false)
	case s.safe:
		return 0, syntaxAt(pos, unsafe("dispatch macro #%c", c))
	case c == '\\':
		return s.char(pos)
	case c == ':':
		end, _, err := s.token(pos + 2)
		return end, err
	case c == '<':
		return s.opaque(pos)
	case c == '*':
		return s.bits(pos)
	case c == '.':
		return s.nested(pos, pos+2, depth)
	case c == 'P' || c == 'p':
		if pos+2 < len(s.buf) && s.buf[pos+2] == '"' {
			return s.text(pos + 2)
		}
	case c == 'C' || c == 'c' || c == 'S' || c == 's':
		if pos+2 < len(s.buf) && s.buf[pos+2] == '(' {
			return s.list(pos, pos+3, depth, false)
		}
	case '0' <= c && c <= '9':
		i := pos + 1
		for i < len(s.buf) && '0' <= s.buf[i] && s.buf[i] <= '9' {
			i++
		}
		if i < len(s.buf) && (s.buf[i] == 'A' || s.buf[i] == 'a') {
			return s.nested(pos, i+1, depth)
		}
	}
	return 0, syntaxAt(pos, errDispatch)
}

// char scans #\ with one character of any kind and the rest of its name.
func (s *scanner) char(pos int) (int, error) {
	pos += 2
	if pos >= len(s.buf) {
		return 0, syntaxAt(len(s.buf), ErrUnexpectedEnd)
	}
	_, n := utf8.DecodeRune(s.buf[pos:])
	pos += n
	for pos < len(s.buf) && !endsToken(s.buf[pos]) {
		pos++
	}
	return pos, nil
}

func (s *scanner) bits(pos int) (int, error) {
	for pos += 2; pos < len(s.buf) && !endsToken(s.buf[pos]); pos++ {
		if s.buf[pos] != '0' && s.buf[pos] != '1' {
			return 0, syntaxAt(pos, errDispatch)
		}
	}
	return pos, nil
}

// kind classifies the datum at pos, whose syntax has been checked.
func (s *scanner) kind(pos int) kind {
	switch s.buf[pos] {
	case '(':
		return kindList
	case '"':
		return kindString
	case '\'':
		return kindQuote
	case '#':
		switch s.buf[pos+1] {
		case '(':
			return kindList
		case ':':
			return kindSymbol
		}
		return kindOpaque
	}
	if _, num, _ := s.token(pos); num != numNone {
		return kindNumber
	}
	return kindSymbol
}
