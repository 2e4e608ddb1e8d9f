package helper

import (
	"bytes"
	"slices"
	"strings"
)

// longText is the length of an argument beyond which it is copied once, into the
// frame that is sent: a program may be of 15 MB.
const longText = 64 << 10

// longArgument is a string that stands in a Call at an offset of its text.
type longArgument struct {
	at   int
	text string
}

var (
	once  = strings.NewReplacer(`"`, `\"`, `\`, `\\`)
	twice = strings.NewReplacer(`"`, `\\\"`, `\`, `\\\\`)
)

// String returns the finished call.
func (c *Call) String() string {
	var b strings.Builder
	c.each(func(text []byte) { b.Write(text) }, func(s string) {
		b.WriteByte('"')
		_, _ = once.WriteString(&b, s)
		b.WriteByte('"')
	})
	b.WriteByte(')')
	return b.String()
}

// AppendSexp implements [sexp.Appender]: the finished call as a Lisp string.
func (c *Call) AppendSexp(b []byte) ([]byte, error) {
	size := 2*len(c.text) + longText
	for _, l := range c.long {
		size += len(l.text) + 3*(strings.Count(l.text, `"`)+strings.Count(l.text, `\`))
	}
	w := bytes.NewBuffer(slices.Grow(b, size))
	w.WriteByte('"')
	c.each(func(text []byte) { _, _ = once.WriteString(w, string(text)) }, func(s string) {
		w.WriteString(`\"`)
		_, _ = twice.WriteString(w, s)
		w.WriteString(`\"`)
	})
	w.WriteString(`)"`)
	return w.Bytes(), nil
}

// each calls text and long for the parts of the call in their order.
func (c *Call) each(text func([]byte), long func(string)) {
	at := 0
	for _, l := range c.long {
		text(c.text[at:l.at])
		long(l.text)
		at = l.at
	}
	text(c.text[at:])
}
