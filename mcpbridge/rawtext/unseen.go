package rawtext

import (
	"fmt"
	"unicode/utf8"
)

// unseen are the characters that are not seen, or are seen as a blank, and that Lisp's
// reader takes for part of a symbol.
var unseen = map[rune]string{
	'\u0085': "a next line", '\u00a0': "a no-break space", '\u00ad': "a soft hyphen", '\u1680': "an Ogham space",
	'\u180e': "a Mongolian vowel separator", '\u200b': "a zero-width space", '\u2028': "a line separator",
	'\u2029': "a paragraph separator", '\u202f': "a narrow no-break space", '\u205f': "a mathematical space",
	'\u2060': "a word joiner", '\u3000': "an ideographic space", '\ufeff': "a byte order mark",
}

// Unseen names a character that is not seen, or is seen as a blank, and is none for Lisp,
// as in "U+FEFF, a byte order mark"; it returns "" for any other.
func Unseen(r rune) string {
	name := unseen[r]
	if r >= '\u2000' && r <= '\u200a' {
		name = "a typographic space"
	}
	if name == "" {
		return ""
	}
	return fmt.Sprintf("U+%04X, %s", r, name)
}

// NotUTF8 returns the offset of the first byte of s that is part of no UTF-8, and what
// that is in Latin-1, as in "the byte E9, é in Latin-1"; -1 if s is UTF-8.
func NotUTF8(s string) (offset int, what string) {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i, Latin1(s[i])
		}
		i += n
	}
	return -1, ""
}

// Latin1 says what a byte is in Latin-1, which is what a text with single such bytes mostly
// is in.
func Latin1(b byte) string {
	if b < 0xa0 {
		return fmt.Sprintf("the byte %02X", b)
	}
	return fmt.Sprintf("the byte %02X, %c in Latin-1", b, rune(b))
}
