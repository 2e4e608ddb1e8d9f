package syntax

import "context"

// SameCode reports whether a and b, which are well-formed, differ in comments and blanks
// at most.
func SameCode(ctx context.Context, a, b string) bool {
	return sameTokens(a, b, workOn(ctx, a+b), func(token, string) bool { return true })
}

// sameTokens reports whether a and b have the same tokens, of those that count.
func sameTokens(a, b string, w *work, counts func(t token, text string) bool) bool {
	next := func(l *lexer) string {
		for {
			t := l.next()
			if text := l.text[t.start:t.end]; t.kind == none || counts(t, text) {
				return text
			}
		}
	}
	as, bs := newLexer(a, w), newLexer(b, w)
	for !w.over {
		x, y := next(as), next(bs)
		if x != y {
			return false
		}
		if x == "" {
			return !w.over
		}
	}
	return false
}

// LastEnd returns the offset behind the last top-level form of text, which is well-formed,
// that ends at the offset most or before it; 0 if none does.
func LastEnd(ctx context.Context, text string, most int) (end int) {
	depth := 0
	l := newLexer(text, workOn(ctx, text))
	for t := l.next(); t.kind != none && t.end <= most; t = l.next() {
		switch t.kind {
		case opener:
			depth++
		case closer:
			depth--
		}
		if depth == 0 && t.kind != prefix && t.kind != skipPrefix {
			end = t.end
		}
	}
	return end
}
