package syntax

import (
	"strings"
	"unicode"
)

// symbolName is the name of the symbol written as text, as the standard's reader reads
// it: in upper case, without the prefix of a package.
func symbolName(text string) string {
	_, name := splitSymbol(text, Upcase)
	return name
}

// splitSymbol is the prefix and the name of the symbol written as text; the prefix of a
// keyword is "KEYWORD", that of a symbol without one is "".
func splitSymbol(text string, c Case) (prefix, name string) {
	text = strings.TrimPrefix(text, "#:")
	colon := -1
	letters(text, func(at int, r rune, plain bool) {
		if colon < 0 && plain && r == ':' {
			colon = at
		}
	})
	if colon < 0 {
		return "", c.fold(text)
	}
	if prefix = c.fold(text[:colon]); prefix == "" {
		prefix = "KEYWORD"
	}
	return prefix, c.fold(text[colon+1:])
}

// letters calls f with each character that belongs to the name of a symbol written as text,
// and with each colon; plain says that neither bars nor a backslash escape it.
func letters(text string, f func(at int, r rune, plain bool)) {
	bars, escaped := false, false
	for at, r := range text {
		switch {
		case escaped:
			escaped = false
			f(at, r, false)
		case r == '\\':
			escaped = true
		case r == '|':
			bars = !bars
		default:
			f(at, r, !bars)
		}
	}
}

// fold returns the name of the symbol written as text, without the colons in it, with the
// letters that are not escaped as the reader has them.
func (c Case) fold(text string) string {
	to := unicode.ToUpper
	switch c {
	case Downcase:
		to = unicode.ToLower
	case Preserve:
		to = func(r rune) rune { return r }
	case Invert:
		to = inverting(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	letters(text, func(_ int, r rune, plain bool) {
		switch {
		case !plain:
			b.WriteRune(r)
		case r != ':':
			b.WriteRune(to(r))
		}
	})
	return b.String()
}

// inverting returns what Invert does with the letters of text: a name with letters of both
// cases stays as it is.
func inverting(text string) func(rune) rune {
	upper, lower := false, false
	letters(text, func(_ int, r rune, plain bool) {
		upper, lower = upper || plain && unicode.IsUpper(r), lower || plain && unicode.IsLower(r)
	})
	switch {
	case upper == lower:
		return func(r rune) rune { return r }
	case upper:
		return unicode.ToLower
	}
	return unicode.ToUpper
}
