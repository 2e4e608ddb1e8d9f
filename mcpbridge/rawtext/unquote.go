package rawtext

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Unquote is the text of b, a valid JSON string; what is not Unicode in it
// becomes U+FFFD.
func Unquote(b []byte) string {
	if bytes.IndexByte(b, '\\') < 0 && utf8.Valid(b) {
		return string(b[1 : len(b)-1])
	}
	if len(b) > bigString {
		return unquoteBig(b)
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// bigString is the length from which on the copies that package json makes matter.
const bigString = 64 << 10

// unquoteBig is Unquote for long strings, of which package json would make more
// copies than one.
func unquoteBig(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for b = b[1 : len(b)-1]; len(b) > 0; {
		if b[0] == '\\' {
			r, n := unescape(b)
			s.WriteRune(r)
			b = b[n:]
			continue
		}
		n := bytes.IndexByte(b, '\\')
		if n < 0 {
			n = len(b)
		}
		piece := b[:n]
		b = b[n:]
		if utf8.Valid(piece) {
			s.Write(piece)
			continue
		}
		for len(piece) > 0 {
			r, n := utf8.DecodeRune(piece) // U+FFFD for each byte of what is no character
			s.WriteRune(r)
			piece = piece[n:]
		}
	}
	return s.String()
}

// unescape returns the character whose escape b begins with, and the length of that. Half of a
// surrogate pair is no character: strings.Builder writes it as U+FFFD.
func unescape(b []byte) (r rune, n int) {
	if c := strings.IndexByte(`"\/bfnrt`, b[1]); c >= 0 {
		return rune("\"\\/\b\f\n\r\t"[c]), 2
	}
	r, n = escapedUnit(b), len(`\u0000`)
	if pair := utf16.DecodeRune(r, escapedUnit(b[n:])); pair != utf8.RuneError {
		return pair, 2 * n
	}
	return r, n
}
