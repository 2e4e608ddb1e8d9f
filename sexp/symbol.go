package sexp

// Symbol is a Lisp symbol in the spelling of the printer: lower case, package
// prefix and bars kept, as in ":ok", "nil", "swank:connection-info",
// "|Foo Bar|", "#:g12". Two Symbols that came from Lisp are the same symbol if
// and only if they are equal (uninterned ones excepted), so Go code can switch
// on them.
//
// A Symbol is encoded verbatim, after a check that the Lisp reader reads it as
// exactly one interned symbol; see [Append].
type Symbol string

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
