package syntax

import "strings"

// unreadable reports whether the reader refuses text although its parentheses match: a
// list has lost its beginning or its end at a place where no parenthesis elsewhere mends
// that.
func unreadable(text string) bool {
	ts, _ := tokens(text)
	words := make([]string, len(ts))
	for i, t := range ts {
		words[i] = text[t.start:t.end]
	}
	for i, t := range ts {
		word, rest := words[i], words[i+1:]
		switch {
		case t.kind == atom && len(word) > 1 && word[0] == '#' && strings.IndexByte("cCsS", word[1]) >= 0: // #C0 1)
			return true
		case t.kind == prefix && len(word) == 2 && word[0] == ',' && i > 0 && words[i-1] == ".": // (a . ,@ b)
			return true
		case len(word) == 3 && word[0] == '#' && word[1] > '1' && word[1] <= '9' && strings.IndexByte("aA", word[2]) >= 0 && oddRows(rest):
			return true
		case len(rest) > 0 && strings.HasSuffix(word, "=") && word[0] == '#' && rest[0] == word[:len(word)-1]+"#": // #1=#1#)
			return true
		}
	}
	return len(misplaced(text, ts, true)) > 0
}

// oddRows reports whether the list that begins words cannot be the contents of an array of
// two dimensions or more, as ((1 2) 3 4).
func oddRows(words []string) bool {
	depth := 0
	for _, word := range words {
		switch {
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
