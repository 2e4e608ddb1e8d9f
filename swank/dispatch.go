package swank

import (
	"bytes"
	"errors"

	"swank-mcp/sexp"
)

// dispatch handles one frame on the reader goroutine.
func (c *Conn) dispatch(f frame) {
	if r, ok := splitReturn(f.payload); ok {
		c.answered(f, r)
		return
	}
	if err := c.message(f, headOf(f.payload)); err != nil {
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

var (
	errNoHead  = errors.New("not a list headed by a keyword")
	errNoReply = errors.New("neither :ok nor :abort")
)

// message handles every message other than an ordinary reply; the many remarks
// for editors are dropped. It returns why the frame could not be read.
func (c *Conn) message(f frame, head string) error {
	switch head {
	case "":
		return errNoHead
	case ":ping":
		var m question
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		c.postMessage(":emacs-pong", int64(m.Thread), m.Tag)
	case ":write-string":
		// Swank of 2.28 and later may wait until the text is acknowledged. Whose
		// output it is cannot be told, so it is dropped.
		var m struct {
			_            struct{} `sexp:",list"`
			Text, Target sexp.Raw
			Thread       *ThreadID // that waits; nil: none
		}
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		if m.Thread != nil {
			c.postMessage(":write-done", int64(*m.Thread))
		}
	case ":return":
		return errNoReply
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
	case ":reader-error":
		return c.readerError(f)
	case ":debug":
		var m wireDebug
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		c.debugger(&m)
	case ":debug-return":
		var m struct {
			_      struct{} `sexp:",list"`
			Thread ThreadID
			Level  int
		}
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		c.leaveDebugger(m.Thread, m.Level)
	case ":background-message":
		var m struct {
			_    struct{} `sexp:",list"`
			Text string
		}
		if err := decodeArgs(f.payload, head, &m); err != nil {
			return err
		}
		if c.opts.Message != nil {
			c.opts.Message(m.Text)
		}
	case ":read-string", ":y-or-n-p", ":read-from-minibuffer", ":eval", ":ed-rpc", ":inspect":
		return c.decline(f, head)
	}
	return nil
}

// question is what a message begins with for whose answer a Lisp thread waits.
type question struct {
	_      struct{} `sexp:",list"`
	Thread ThreadID
	Tag    int64
	What   sexp.Raw
}

// decline answers a question for the user so that the thread goes on without
// what it asked for: there is nobody to ask.
func (c *Conn) decline(f frame, head string) error {
	var q question
	if head == ":inspect" { // (:inspect CONTENT THREAD TAG)
		var m struct {
			_       struct{} `sexp:",list"`
			Content sexp.Raw
			Thread  ThreadID // nil: it does not wait for the viewer to be closed
			Tag     int64
		}
		if err := decodeArgs(f.payload, head, &m); err != nil || m.Thread == 0 {
			return err
		}
		q.Thread, q.Tag = m.Thread, m.Tag
	} else if err := decodeArgs(f.payload, head, &q); err != nil {
		return err
	}
	var value any // nil: no, cancelled, closed
	switch head {
	case ":read-string":
		c.postMessage(":emacs-return-string", int64(q.Thread), q.Tag, "") // the end of the file
		return nil
	case ":eval":
		value = sexp.List{sexp.Symbol(":error"), "refused by the client", "it does not evaluate Emacs Lisp"}
	case ":ed-rpc":
		value = sexp.List{sexp.Symbol(":ed-rpc-forbidden"), q.What}
	}
	c.postMessage(":emacs-return", int64(q.Thread), q.Tag, value)
	return nil
}

// postMessage queues (HEAD REST…) for the flusher.
func (c *Conn) postMessage(head sexp.Symbol, rest ...any) {
	b, err := sexp.Append(make([]byte, headerLen, 64), append(sexp.List{head}, rest...))
	if err == nil && finishFrame(b, 0) == nil {
		c.post(b)
	}
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
