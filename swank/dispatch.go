package swank

import (
	"bytes"
	"errors"
	"strconv"

	"swank-mcp/sexp"
)

// dispatch handles one frame on the reader goroutine.
func (c *Conn) dispatch(f frame) {
	if f.tooBig != nil {
		c.unreadable(f, f.tooBig)
		return
	}
	if r, ok := splitReturn(f.payload); ok {
		c.answered(f, r)
		return
	}
	head := headOf(f.payload)
	if err := c.message(f, head); err != nil {
		c.unreadable(f, err)
	}
}

// headOf returns the first element of a message if it is a keyword.
func headOf(b []byte) string {
	if len(b) < 2 || b[0] != '(' || b[1] != ':' {
		return ""
	}
	if i := bytes.IndexAny(b, " \t\r\n)\""); i > 0 {
		return string(b[1:i])
	}
	return ""
}

var errNoHead = errors.New("not a list headed by a keyword")

// message handles every message other than an ordinary reply. It returns why
// the frame could not be read.
func (c *Conn) message(f frame, head string) error {
	switch head {
	case "":
		return errNoHead
	case ":ping":
		var m struct {
			_      struct{} `sexp:",list"`
			Thread ThreadID
			Tag    int64
		}
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		c.acknowledge(":emacs-pong", int64(m.Thread), m.Tag)
		return nil
	case ":write-string":
		return c.writeString(f)
	case ":return":
		return c.oddReturn(f)
	case ":invalid-rpc":
		var m struct {
			_       struct{} `sexp:",list"`
			ID      int64
			Message string
		}
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		if k := c.take(m.ID); k != nil {
			k.complete(nil, &InvalidRPCError{m.ID, m.Message})
		}
		return nil
	case ":reader-error":
		return c.readerError(f)
	case ":debug":
		var m wireDebug
		if err := decodeArgs(f.keep(), head, &m); err != nil {
			return err
		}
		d := m.debug()
		c.enterDebugger(d)
		c.handle(d)
		return nil
	case ":debug-return":
		var m DebugReturn
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		c.leaveDebugger(m.Thread, m.Level)
		c.handle(&m)
		return nil
	}
	e := newEvent(head)
	if e == nil {
		c.handle(&Unknown{head, f.keep()})
		return nil
	}
	if _, asks := e.(Query); !asks && c.opts.Handler == nil {
		return nil
	}
	if err := decodeArgs(f.keep(), head, e); err != nil {
		return err
	}
	c.handle(e)
	return nil
}

// newEvent returns a new event for messages with the given head, nil if there
// is no type for it.
func newEvent(head string) Event {
	switch head {
	case ":debug-activate":
		return new(DebugActivate)
	case ":debug-condition":
		return new(DebugCondition)
	case ":read-string":
		return new(ReadString)
	case ":read-aborted":
		return new(ReadAborted)
	case ":y-or-n-p":
		return new(YesOrNo)
	case ":read-from-minibuffer":
		return new(ReadFromMinibuffer)
	case ":eval":
		return new(Eval)
	case ":eval-no-wait":
		return new(EvalNoWait)
	case ":ed-rpc":
		return new(EdRPC)
	case ":ed-rpc-no-wait":
		return new(EdRPCNoWait)
	case ":ed":
		return new(Ed)
	case ":inspect":
		return new(Inspect)
	case ":background-message":
		return new(BackgroundMessage)
	case ":new-package":
		return new(NewPackage)
	case ":new-features":
		return new(NewFeatures)
	case ":indentation-update":
		return new(IndentationUpdate)
	case ":presentation-start":
		return new(PresentationStart)
	case ":presentation-end":
		return new(PresentationEnd)
	case ":channel-send":
		return new(ChannelSend)
	}
	return nil
}

// keep returns a payload that the next read does not overwrite.
func (f frame) keep() []byte {
	if f.owned {
		return f.payload
	}
	return bytes.Clone(f.payload)
}

// decodeArgs decodes the elements after the head, as a list, into v. The last
// byte of the head makes room for that list's parenthesis and is put back.
func decodeArgs(b []byte, head string, v any) error {
	i := len(head)
	saved := b[i]
	b[i] = '('
	err := sexp.Unmarshal(bytes.TrimRight(b[i:], " \t\r\n"), v)
	b[i] = saved
	return err
}

// acknowledge posts (NAME NUMBER…).
func (c *Conn) acknowledge(name string, numbers ...int64) {
	b := append(make([]byte, headerLen, 64), '(')
	b = append(b, name...)
	for _, n := range numbers {
		b = append(b, ' ')
		b = strconv.AppendInt(b, n, 10)
	}
	b = append(b, ')')
	if finishFrame(b, 0) == nil {
		c.post(b)
	}
}

func (c *Conn) writeString(f frame) error {
	var m wireWriteString
	if err := decodeArgs(f.payload, ":write-string", &m); err != nil {
		return err
	}
	e := &WriteString{Text: m.Text}
	if t := string(m.Target); t != "nil" {
		e.Target = t
	}
	if len(m.Thread) > 0 && string(m.Thread) != "nil" {
		if err := sexp.Unmarshal(m.Thread, &e.Thread); err != nil {
			return err
		}
		c.acknowledge(":write-done", int64(e.Thread))
	}
	c.handle(e)
	return nil
}

// handle answers a question that the program does not take over, and gives the
// event to the handler.
func (c *Conn) handle(e Event) {
	if q, ok := e.(Query); ok && (c.opts.Query == nil || !c.opts.Query(q)) {
		if msg := q.Refusal(); msg != nil {
			c.Post(msg)
		}
	}
	if c.opts.Handler != nil {
		c.opts.Handler(e)
	}
}
