package swank

import (
	"bytes"
	"strconv"
	"strings"

	"swank-mcp/sexp"
)

// A reply is a :return taken apart.
type reply struct {
	tag   string   // ":ok" or ":abort"
	value sexp.Raw // aliases the frame
	id    int64
}

// splitReturn takes (:return (TAG VALUE) ID) apart from its two ends, without
// looking at VALUE: it may have megabytes, or be no s-expression at all, and
// either is the business of who waits for it. It reports false for what is not
// written just as Swank prints it.
func splitReturn(b []byte) (r reply, ok bool) {
	b = bytes.TrimRight(b, " \t\r\n")
	if v, ok := bytes.CutPrefix(b, []byte("(:return (:ok ")); ok {
		r.tag, b = ":ok", v
	} else if v, ok := bytes.CutPrefix(b, []byte("(:return (:abort ")); ok {
		r.tag, b = ":abort", v
	} else {
		return r, false
	}
	b, r.id, ok = cutID(b)
	if !ok || len(b) == 0 || b[len(b)-1] != ')' {
		return r, false
	}
	r.value = sexp.Raw(b[:len(b)-1])
	return r, true
}

// cutID cuts " ID)" off the end of a message.
func cutID(b []byte) (rest []byte, id int64, ok bool) {
	b = bytes.TrimRight(b, " \t\r\n")
	if len(b) == 0 || b[len(b)-1] != ')' {
		return b, 0, false
	}
	b = b[:len(b)-1]
	i := len(b)
	for i > 0 && '0' <= b[i-1] && b[i-1] <= '9' {
		i--
	}
	id, err := strconv.ParseInt(string(b[i:]), 10, 64)
	if err != nil || i == 0 || b[i-1] != ' ' {
		return b, 0, false
	}
	return b[:i-1], id, true
}

func (c *Conn) answered(f frame, r reply) {
	k := c.take(r.id)
	if k == nil {
		return
	}
	if r.tag == ":ok" {
		if !f.owned {
			r.value = bytes.Clone(r.value)
		}
		k.complete(r.value, nil)
		return
	}
	var reason string
	if err := sexp.Unmarshal(r.value, &reason); err != nil {
		reason = string(r.value)
	}
	k.complete(nil, &AbortError{r.id, reason})
}

// unreadable fails the call that the frame answers, if that can be seen from
// its end. Anything else is no loss: nothing waits for it.
func (c *Conn) unreadable(f frame, cause error) {
	if bytes.HasPrefix(f.payload, []byte("(:return")) {
		if _, id, ok := cutID(f.payload); ok {
			if k := c.take(id); k != nil {
				k.complete(nil, &MessageError{id, clip(f.payload, 200), cause})
			}
		}
	}
}

// readerError completes the call whose request, or whose reply, the echoed
// packet is.
func (c *Conn) readerError(f frame) error {
	var m struct {
		_               struct{} `sexp:",list"`
		Packet, Message string
	}
	if err := decodeArgs(f.payload, ":reader-error", &m); err != nil {
		return err
	}
	if strings.HasPrefix(m.Packet, "(:emacs-rex ") || strings.HasPrefix(m.Packet, "(:return ") {
		if _, id, ok := cutID([]byte(m.Packet)); ok {
			if k := c.take(id); k != nil {
				k.complete(nil, &ReaderError{id, m.Packet, m.Message})
			}
		}
	}
	return nil
}
