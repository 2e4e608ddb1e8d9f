package sexp

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// asciiNames are the names that SBCL prints for the characters that are not
// graphic, by code.
var asciiNames = [...]string{"Nul", "Soh", "Stx", "Etx", "Eot", "Enq", "Ack", "Bel",
	"Backspace", "Tab", "Newline", "Vt", "Page", "Return", "So", "Si", "Dle", "Dc1", "Dc2",
	"Dc3", "Dc4", "Nak", "Syn", "Etb", "Can", "Em", "Sub", "Esc", "Fs", "Gs", "Rs", "Us", "Space"}

// charNamed returns the character that the text after #\ stands for.
func charNamed(name []byte) (Char, bool) {
	r, n := utf8.DecodeRune(name)
	if n == len(name) && (r != utf8.RuneError || n == 3) {
		return Char(r), true
	}
	return lookupChar(string(name))
}

func lookupChar(name string) (Char, bool) {
	for code, known := range asciiNames {
		if strings.EqualFold(name, known) {
			return Char(code), true
		}
	}
	switch strings.ToLower(name) {
	case "rubout", "del", "delete":
		return 0x7F, true
	case "linefeed":
		return '\n', true
	case "null":
		return 0, true
	case "escape":
		return 0x1B, true
	}
	for i, known := range latin1Names {
		if strings.EqualFold(name, known) {
			return Char(0x80 + i), true
		}
	}
	// Characters without a Unicode name print as U and their code: #\UD800.
	if len(name) > 2 && (name[0] == 'U' || name[0] == 'u') {
		code, err := strconv.ParseUint(strings.TrimPrefix(name[1:], "+"), 16, 32)
		if err == nil && code <= unicode.MaxRune {
			return Char(code), true
		}
	}
	return 0, false
}

// appendChar writes c if the reader reads it back as c for certain.
func appendChar(b []byte, c Char) ([]byte, error) {
	switch {
	case c < 0 || c > unicode.MaxRune || 0xD800 <= c && c < 0xE000:
		return b, unsafe("character code %#x", int32(c))
	case c <= ' ':
		return append(append(b, `#\`...), asciiNames[c]...), nil
	case c == 0x7F:
		return append(b, `#\Rubout`...), nil
	case c < 0x7F || unicode.IsGraphic(rune(c)) && !unicode.IsSpace(rune(c)):
		return utf8.AppendRune(append(b, `#\`...), rune(c)), nil
	}
	return strconv.AppendInt(append(b, `#\U`...), int64(c), 16), nil
}
