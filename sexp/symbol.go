package sexp

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Symbol is a Lisp symbol in the spelling of the printer: lower case, package
// prefix and bars kept, as in ":ok", "nil", "swank:connection-info",
// "|Foo Bar|", "#:g12". Two Symbols that came from Lisp are the same symbol if
// and only if they are equal (uninterned ones excepted), so Go code can switch
// on them.
//
// A Symbol is encoded verbatim, after a check that the Lisp reader reads it as
// exactly one interned symbol; see [Append].
type Symbol string

// Keyword returns the keyword spelled name, which is lower case and without
// the colon: Keyword("ok") is ":ok". It does not escape: a name that needs
// bars must come with them, or encoding refuses the result.
func Keyword(name string) Symbol { return Symbol(":" + name) }

// Name returns the name as Lisp sees it, case folded outside bars:
// "CONNECTION-INFO" for "swank:connection-info", "Foo Bar" for "|Foo Bar|".
func (s Symbol) Name() string {
	t := string(s)
	if strings.HasPrefix(t, "#:") {
		return readName(t[2:])
	}
	_, after := splitPrefix(t)
	return readName(t[after:])
}

// Package returns the name of the package that the prefix names: "SWANK",
// "KEYWORD" for a keyword, "" without a prefix and for an uninterned symbol.
func (s Symbol) Package() string {
	t := string(s)
	if strings.HasPrefix(t, "#:") {
		return ""
	}
	before, after := splitPrefix(t)
	switch {
	case after == 0:
		return ""
	case before == 0:
		return "KEYWORD"
	}
	return readName(t[:before])
}

// splitPrefix returns the end of the package prefix and the start of the name:
// 5 and 6 for "swank:ping", 5 and 7 for "swank::x", 0 and 0 without a prefix.
func splitPrefix(s string) (before, after int) {
	bars := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '|':
			bars = !bars
		case c == ':' && !bars:
			after = i + 1
			if after < len(s) && s[after] == ':' {
				after++
			}
			return i, after
		}
	}
	return 0, 0
}

// readName removes escapes and folds case as the reader does.
func readName(s string) string {
	b := make([]byte, 0, len(s))
	bars := false
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		chunk := s[i : i+n]
		i += n
		switch {
		case r == '\\':
			if i < len(s) {
				_, n = utf8.DecodeRuneInString(s[i:])
				b = append(b, s[i:i+n]...)
				i += n
			}
		case r == '|':
			bars = !bars
		case bars || r == utf8.RuneError:
			b = append(b, chunk...)
		default:
			b = utf8.AppendRune(b, upcase(r))
		}
	}
	return string(b)
}

// upcase is CHAR-UPCASE: Lisp changes only the characters whose two cases map
// to each other, so "ß" and "µ" stay.
func upcase(r rune) rune {
	if u := unicode.ToUpper(r); unicode.ToLower(u) == r {
		return u
	}
	return r
}
