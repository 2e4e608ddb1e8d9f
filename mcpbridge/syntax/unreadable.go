package syntax

import "strings"

// unreadable reports whether the reader refuses text although its parentheses match: a
// list has lost its beginning or its end at a place where no parenthesis elsewhere mends
// that.
func unreadable(text string, w *work) bool {
	l := newLexer(text, w)
	before := ""
	for t := l.next(); t.kind != none; {
		word, next := text[t.start:t.end], l.next()
		switch {
		case t.kind == atom && len(word) > 1 && word[0] == '#' && strings.IndexByte("cCsS", word[1]) >= 0: // #C0 1)
			return true
		case t.kind == prefix && len(word) == 2 && word[0] == ',' && before == ".": // (a . ,@ b)
			return true
		case len(word) == 3 && word[0] == '#' && word[1] > '1' && word[1] <= '9' && strings.IndexByte("aA", word[2]) >= 0 && oddRows(text, t.end, w):
			return true
		case word[0] == '#' && strings.HasSuffix(word, "=") && text[next.start:next.end] == word[:len(word)-1]+"#": // #1=#1#)
			return true
		}
		before, t = word, next
	}
	return len(misplaced(text, w, true)) > 0
}

// oddRows reports whether the list that begins behind the offset at cannot be the contents of an array of
// two dimensions or more, as ((1 2) 3 4).
func oddRows(text string, at int, w *work) bool {
	depth := 0
	l := lexer{text: text, at: at, work: w}
	for t := l.next(); t.kind != none; t = l.next() {
		switch word := text[t.start:t.end]; {
		case word == "(" || word == "#(":
			depth++
		case word == ")":
			depth--
		case depth == 1 && !strings.ContainsAny(word[:1], "\"#"):
			return true
		}
		if depth <= 0 {
			return false
		}
	}
	return false
}
