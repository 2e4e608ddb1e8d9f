package rawtext

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Pair names two members of one object whose names a reader of JSON can take for one.
type Pair struct {
	In           string // the names that lead to the object, as "params.arguments"; "" is the outermost one
	First, Again string
}

// object is one that Twice has begun to read.
type object struct {
	start int // of its text
	names int // those in hashes before its own
	name  []byte
}

var seed = maphash.MakeSeed()

// Twice finds an object in b, valid JSON, that has a name twice, at any depth. Names are
// compared as JSON readers do that are lax: without regard to case, escapes read. It takes
// eight bytes a name of the objects that are open.
func Twice(b []byte) (found Pair, ok bool) {
	var open []object
	var hashes []uint64
	var folded []byte
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{':
			open = append(open, object{start: i, names: len(hashes)})
		case '}':
			o := open[len(open)-1]
			open = open[:len(open)-1]
			if found, ok = twiceIn(b[o.start:i+1], hashes[o.names:]); ok {
				found.In = path(open)
				return found, true
			}
			hashes = hashes[:o.names]
		case '"':
			end := stringEnd(b, i)
			if next := skipSpace(b, end); next < len(b) && b[next] == ':' {
				open[len(open)-1].name = b[i:end]
				folded = fold(folded[:0], b[i:end])
				hashes = append(hashes, maphash.Bytes(seed, folded))
			}
			i = end - 1
		}
	}
	return Pair{}, false
}

// twiceIn finds two names in text, of an object whose names have these hashes.
func twiceIn(text []byte, hashes []uint64) (p Pair, found bool) {
	slices.Sort(hashes)
	for i := 1; i < len(hashes); i++ {
		if hashes[i] != hashes[i-1] {
			continue
		}
		var first string
		var one, folded []byte
		Members(text, func(key, _ []byte) {
			folded = foldText(folded[:0], key)
			switch {
			case found || maphash.Bytes(seed, folded) != hashes[i]:
			case one == nil:
				first, one = string(key), append([]byte{}, folded...)
			case bytes.Equal(one, folded):
				p, found = Pair{First: first, Again: string(key)}, true
			}
		})
		if found {
			break
		}
	}
	return p, found
}

// path joins the names under which what is read now stands in the objects that are open.
func path(open []object) string {
	var names []string
	for _, o := range open {
		names = append(names, Unquote(o.name))
	}
	return strings.Join(names, ".")
}

// fold appends the text of the JSON string quoted with one case for all letters.
func fold(b, quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return foldText(b, []byte(Unquote(quoted)))
	}
	return foldText(b, quoted[1:len(quoted)-1])
}

func foldText(b, text []byte) []byte {
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		b = utf8.AppendRune(b, foldRune(r))
	}
	return b
}

// foldRune returns the smallest of the characters that differ from r by case alone.
func foldRune(r rune) rune {
	for {
		next := unicode.SimpleFold(r)
		if next <= r {
			return next
		}
		r = next
	}
}
