package swank

import (
	"io"
	"strconv"
	"sync"
	"unicode/utf8"
)

// traceClip is how many bytes of a message a trace shows.
const traceClip = 1024

// A tracer writes one line per message:
//
//	>> 60 (:emacs-rex (swank:connection-info) "COMMON-LISP-USER" t 1)
//	<< 29 (:return (:ok nil) 1)
//
// ">>" is from us to Lisp; the number is the size of the payload in bytes.
// Control characters and bytes that are not UTF-8 are shown as \n, \x00 and
// the like, so that a message is one line; a longer message ends in
// "…(+N bytes)". There is no time in it: a trace of the same conversation is
// the same text.
type tracer struct {
	mu  sync.Mutex
	w   io.Writer
	buf []byte
}

// message traces one payload. direction is ">>" or "<<".
func (t *tracer) message(direction string, payload []byte) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	b := append(t.buf[:0], direction...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(b, ' ')
	shown := payload
	if len(shown) > traceClip {
		shown = shown[:traceClip]
		for i := 0; i < utf8.UTFMax-1 && !utf8.RuneStart(payload[len(shown)]); i++ {
			shown = shown[:len(shown)-1]
		}
	}
	b = appendVisible(b, shown)
	if rest := len(payload) - len(shown); rest > 0 {
		b = append(b, "…(+"...)
		b = strconv.AppendInt(b, int64(rest), 10)
		b = append(b, " bytes)"...)
	}
	b = append(b, '\n')
	t.w.Write(b) // a failing trace must not fail the connection
	t.buf = b
}

// frames traces a run of encoded frames.
func (t *tracer) frames(b []byte) {
	if t == nil {
		return
	}
	for len(b) >= headerLen {
		n, err := parseHeader(b)
		if err != nil || headerLen+n > len(b) {
			return
		}
		t.message(">>", b[headerLen:headerLen+n])
		b = b[headerLen+n:]
	}
}

// secret traces that the secret went out, and neither its text nor its length.
func (t *tracer) secret() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	io.WriteString(t.w, ">> [secret]\n")
}

func appendVisible(b, s []byte) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		switch {
		case r == utf8.RuneError && n == 1, r < ' ' && r != '\n' && r != '\t', r == 0x7F:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'x', hex[s[0]>>4], hex[s[0]&15])
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return b
}
