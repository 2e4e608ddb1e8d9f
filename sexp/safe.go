package sexp

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

func unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsafe}, args...)...)
}

// safeToken decides whether a token that scanned may be sent. dots says that
// the unescaped name is nothing but dots.
func safeToken(b []byte, tok token, dots bool) error {
	switch tok.num {
	case numInteger, numRatio:
		return nil
	case numFloat:
		// What the reader cannot represent would lose the whole message.
		return unsafe("float %q", b)
	}
	bars := false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c >= utf8.RuneSelf:
			// The reader normalises symbols to NFKC, and knows cases that
			// unicode does not.
			return unsafe("symbol %q with a character beyond ASCII", b)
		case c == '\\':
			if i++; i < len(b) && b[i] >= utf8.RuneSelf {
				return unsafe("symbol %q with a character beyond ASCII", b)
			}
		case c == '|':
			bars = !bars
		case !bars && (c < ' ' || c == 0x7F):
			return unsafe("symbol %q with a control character outside bars", b)
		}
	}
	if tok.colons == 0 {
		return nil
	}
	before, after := splitPrefix(string(b))
	name := b[after:]
	switch {
	case before == 0 && after == 2:
		return unsafe("symbol %q with an empty package name", b)
	case dots:
		return unsafe("symbol %q whose name is dots", b)
	case classify(name) != numNone:
		return unsafe("symbol %q whose name is a number", b)
	case before > 0 && bytes.IndexByte([]byte("+-.0123456789"), b[0]) >= 0:
		// SBCL takes "+.:x" for one name without a package.
		return unsafe("symbol %q whose package begins like a number", b)
	}
	return nil
}

// checkOne reports whether b is exactly one datum that may be sent.
func checkOne(b []byte, depth int) error {
	if !utf8.Valid(b) {
		return unsafe("text that is not UTF-8")
	}
	s := scanner{buf: b, safe: true}
	end, err := s.datum(0, depth)
	if err != nil {
		return err
	}
	if s.space(end) != len(b) {
		return syntaxAt(s.space(end), errTrailing)
	}
	return nil
}

// checkSymbol reports whether t is exactly one interned symbol.
func checkSymbol(t string) error {
	if t == "" || endsToken(t[0]) || t[0] == '#' {
		return unsafe("symbol %q", t)
	}
	s := scanner{buf: []byte(t), safe: true}
	end, tok, err := s.token(0)
	switch {
	case err != nil:
		return unsafe("symbol %q: %w", t, err.(*SyntaxError).Err)
	case end != len(t):
		return unsafe("symbol %q is more than one token", t)
	case tok.num != numNone:
		return unsafe("symbol %q reads as a number", t)
	}
	return nil
}
