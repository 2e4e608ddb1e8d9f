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

// unquoteBig is unquote for long strings, of which package json would make more
// copies than one.
func unquoteBig(b []byte) string {
	var s strings.Builder
	s.Grow(len(b))
	for b = b[1 : len(b)-1]; len(b) > 0; {
		n := bytes.IndexByte(b, '\\')
		switch {
		case n == 0:
			if c := strings.IndexByte(`"\/bfnrt`, b[1]); c >= 0 {
				s.WriteByte("\"\\/\b\f\n\r\t"[c])
				b = b[2:]
				continue
			}
			if n = 6; utf16.DecodeRune(escapedUnit(b), escapedUnit(b[n:])) != '\ufffd' {
				n = 12
			}
		case n < 0:
			n = len(b)
		}
		if piece := b[:n]; b[0] != '\\' && utf8.Valid(piece) {
			s.Write(piece)
		} else {
			if n = min(n, bigString/2); n < len(b) {
				for n > 1 && !utf8.RuneStart(b[n]) {
					n--
				}
			}
			var decoded string
			if json.Unmarshal(append(append([]byte{'"'}, b[:n]...), '"'), &decoded) != nil {
				return ""
			}
			s.WriteString(decoded)
		}
		b = b[n:]
	}
	return s.String()
}
