package sexp

import "bytes"

// token scans the symbol or number at pos and tells which of them it is. Colons are
// not judged: the printer sets them right.
func (s *scanner) token(pos int) (end int, num numClass, err error) {
	start, escaped := pos, false
	for ; pos < len(s.buf) && !endsToken(s.buf[pos]); pos++ {
		switch s.buf[pos] {
		case '\\':
			escaped = true
			pos++
		case '|':
			escaped = true
			if pos = s.bars(pos); pos < 0 {
				return 0, numNone, syntaxAt(len(s.buf), ErrUnexpectedEnd)
			}
		}
	}
	if pos > len(s.buf) {
		return 0, numNone, syntaxAt(len(s.buf), ErrUnexpectedEnd)
	}
	text := s.buf[start:pos]
	if !escaped {
		if len(bytes.Trim(text, ".")) == 0 && pos > start {
			return 0, numNone, syntaxAt(start, errDotPlace)
		}
		num = classify(text)
	}
	if s.safe && num != numInteger && num != numRatio { // the reader may not be able to represent a float
		if err := checkSymbol(string(text)); err != nil {
			return 0, num, syntaxAt(start, err)
		}
	}
	return pos, num, nil
}

// bars returns the position of the bar that ends the multiple escape at pos,
// or -1.
func (s *scanner) bars(pos int) int {
	for pos++; pos < len(s.buf); pos++ {
		switch s.buf[pos] {
		case '|':
			return pos
		case '\\':
			pos++
		}
	}
	return -1
}
