package rawtext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
)

// LoneSurrogate finds, in the text of a JSON string, an escape such as \ud800
// that is no half of a pair: UTF-8 cannot carry it, and JSON decoders put
// U+FFFD in its place without a word. It returns "" if there is none.
func LoneSurrogate(text []byte) string {
	for i := bytes.IndexByte(text, '\\'); i >= 0 && i+1 < len(text); {
		if r := escapedUnit(text[i:]); utf16.IsSurrogate(r) {
			if utf16.DecodeRune(r, escapedUnit(text[i+6:])) == '\ufffd' {
				return string(text[i : i+6])
			}
			i += 6
		}
		i += 2 // the backslash and what it escapes
		next := bytes.IndexByte(text[min(i, len(text)):], '\\')
		if next < 0 {
			return ""
		}
		i += next
	}
	return ""
}

// escapedUnit is the UTF-16 code unit whose \u escape text begins with, or -1.
func escapedUnit(text []byte) rune {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 32)
	if err != nil {
		return -1
	}
	return rune(n)
}
