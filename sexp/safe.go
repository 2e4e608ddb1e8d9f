package sexp

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func unsafe(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrUnsafe}, args...)...)
}

// checkSymbol reports whether t is a symbol that may be sent. That is fewer than
// Lisp has: those whose package and name are plain, which is all that we write.
func checkSymbol(t string) error {
	name := strings.TrimPrefix(t, ":")
	if pkg, rest, ok := strings.Cut(name, ":"); ok && name == t && plain(pkg) {
		name = strings.TrimPrefix(rest, ":")
	}
	if !plain(name) {
		return unsafe("symbol %q", t)
	}
	return nil
}

// plain reports whether every reader takes s for one name: ASCII without characters
// that have a meaning of their own, and not beginning as a number or a dot may.
func plain(s string) bool {
	for i, c := range []byte(s) {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z', c == '*', c == '%':
		case i > 0 && ('0' <= c && c <= '9' || strings.IndexByte("+-./<>=!?&_", c) >= 0):
		default:
			return false
		}
	}
	return s != ""
}

// checkOne reports whether b is exactly one datum that may be sent.
func checkOne(b []byte) error {
	if !utf8.Valid(b) {
		return unsafe("text that is not UTF-8")
	}
	return (&scanner{buf: b, safe: true}).one()
}
