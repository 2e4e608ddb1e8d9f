package web

import (
	"fmt"
	"strings"
	"unicode"
)

// safe is text of an image, a client or a server as a page may show it: control characters
// and what is not seen, such as what changes the direction of writing, are written out.
func safe(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if !strings.ContainsFunc(s, unseen) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unseen(r) {
			fmt.Fprintf(&b, `\u{%X}`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unseen(r rune) bool {
	return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Co)
}

var oneLine = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// line is safe as one line.
func line(s string) string { return safe(oneLine.Replace(s)) }
