package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"swank-mcp/mcpbridge/rawtext"
)

// seen returns s with the characters that nobody would see in it shown by their numbers,
// and what they are.
func seen(s string) (text string, what []string) {
	if strings.IndexFunc(s, hidden) < 0 {
		return s, nil
	}
	var b strings.Builder
	known := map[rune]bool{}
	for _, r := range s {
		if !hidden(r) {
			b.WriteRune(r)
			continue
		}
		shown := fmt.Sprintf(`\u{%X}`, r)
		b.WriteString(shown)
		if !known[r] {
			known[r] = true
			what = append(what, shown+" is "+rawtext.Unseen(r))
		}
	}
	return b.String(), what
}

// Seen is [Safe] that also shows the characters that nobody would see.
func Seen(s string) string {
	text, _ := seen(s)
	return Safe(text)
}

// ofNames matches messages about a name: it may be another one than it looks.
var ofNames = regexp.MustCompile(`(?i)\b(undefined|unbound|symbol|package|reader?)\b`)

// seenNames is seen for a message about a name. In any other one the characters are the
// program's text, which is shown as it is.
func seenNames(message string) (text string, what []string) {
	if !ofNames.MatchString(message) {
		return message, nil
	}
	return seen(message)
}

func hidden(r rune) bool { return rawtext.Unseen(r) != "" }

var undecoded = regexp.MustCompile(`(?s)UTF-8 stream decoding error.{0,500}?the octet sequence #\(([0-9]+)`)

// undecodable says what the first byte is that a message says to be no UTF-8, or "".
func undecodable(message string) string {
	m := undecoded.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	n, err := strconv.ParseUint(m[1], 10, 8)
	if err != nil {
		return ""
	}
	return NotUTF8(rawtext.Latin1(byte(n)))
}

// NotUTF8 says of a file that it has a byte, which rawtext.Latin1 names, that is no UTF-8.
func NotUTF8(latin1 string) string {
	return "The file is not UTF-8, as which it is read: it has " + latin1 + ". To convert it from Latin-1: iconv -f LATIN1 -t UTF-8"
}
