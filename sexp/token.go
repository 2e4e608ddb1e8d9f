package sexp

// token describes a symbol or number.
type token struct {
	num     numClass
	escaped bool // has | or \
	colons  int  // unescaped colons: 0, 1 or 2
}

// token scans the symbol or number at pos.
func (s *scanner) token(pos int) (end int, tok token, err error) {
	start, nameStart := pos, pos
	dots, escapedName := true, false // of the part after the package prefix
	for pos < len(s.buf) && !endsToken(s.buf[pos]) {
		c := s.buf[pos]
		switch c {
		case '\\':
			tok.escaped, escapedName = true, true
			pos++
		case '|':
			tok.escaped, escapedName = true, true
			if pos = s.bars(pos); pos < 0 {
				return 0, tok, syntaxAt(len(s.buf), ErrUnexpectedEnd)
			}
		case ':':
			tok.colons++
			if tok.colons > 2 || tok.colons == 2 && (pos != nameStart || pos == start+1) {
				return 0, tok, syntaxAt(pos, errPrefix)
			}
			nameStart, dots, escapedName = pos+1, true, false
		}
		if c != '.' && c != ':' {
			dots = false
		}
		pos++
	}
	if pos > len(s.buf) {
		return 0, tok, syntaxAt(len(s.buf), ErrUnexpectedEnd)
	}
	if tok.colons > 0 {
		if pos == nameStart {
			return 0, tok, syntaxAt(pos, errPrefix)
		}
	} else if !tok.escaped {
		if dots && pos > start {
			return 0, tok, syntaxAt(start, errDotPlace)
		}
		tok.num = classify(s.buf[start:pos])
		if tok.num == numZeroDenom {
			return 0, tok, syntaxAt(start, errZeroDenom)
		}
	}
	if s.safe {
		err = safeToken(s.buf[start:pos], tok, dots && !escapedName)
		if err != nil {
			return 0, tok, syntaxAt(start, err)
		}
	}
	return pos, tok, nil
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
