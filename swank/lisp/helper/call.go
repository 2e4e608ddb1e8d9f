package helper

import (
	"fmt"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"swank-mcp/sexp"
	"swank-mcp/swank"
)

// A Call is the text of a call of a function of SWANK-MCP, to be read in
// the image by eval-and-grab-output. A user may have changed readtable-case or
// *read-base* for everybody, so symbols are written between bars and integers
// with a decimal point.
type Call struct {
	text []byte
	long []longArgument // those that are not in text
	err  error
}

const callHead = "(|SWANK-MCP|:"

// NewCall begins a call of the exported function named in upper case.
func NewCall(function string) *Call {
	c := &Call{text: make([]byte, 0, 256)}
	c.text = append(append(c.text, callHead...), '|')
	c.text = append(c.text, function...)
	c.text = append(c.text, '|')
	return c
}

// Clone returns a call that begins as c.
func (c *Call) Clone() *Call {
	return &Call{text: append(make([]byte, 0, len(c.text)+256), c.text...), long: slices.Clone(c.long), err: c.err}
}

// Str adds a string argument.
func (c *Call) Str(s string) *Call {
	c.text = append(c.text, ' ')
	if len(s) > longText && utf8.ValidString(s) {
		c.long = append(c.long, longArgument{len(c.text), s})
		return c
	}
	text, err := sexp.Append(c.text, s)
	if err != nil {
		c.err = err
		return c
	}
	c.text = text
	return c
}

// Strs adds each of texts as a string argument.
func (c *Call) Strs(texts []string) *Call {
	for _, text := range texts {
		c.Str(text)
	}
	return c
}

// Num adds an integer argument.
func (c *Call) Num(n int64) *Call {
	c.text = append(c.text, ' ')
	c.text = strconv.AppendInt(c.text, n, 10)
	c.text = append(c.text, '.')
	return c
}

// Key adds a keyword argument's name, or a keyword as a value, given in upper case.
func (c *Call) Key(name string) *Call {
	c.text = append(c.text, " :|"...)
	c.text = append(c.text, name...)
	c.text = append(c.text, '|')
	return c
}

// Yes adds the argument T.
func (c *Call) Yes() *Call {
	c.text = append(c.text, " |COMMON-LISP|:|T|"...)
	return c
}

// No adds the argument NIL.
func (c *Call) No() *Call {
	c.text = append(c.text, " |COMMON-LISP|:|NIL|"...)
	return c
}

// Opt adds a keyword argument unless its value is "".
func (c *Call) Opt(name, value string) *Call {
	if value != "" {
		c.Key(name).Str(value)
	}
	return c
}

// Quote adds a quoted list of lists, each of which add, called n times with its
// number, fills.
func (c *Call) Quote(n int, add func(i int)) *Call {
	c.text = append(c.text, " (|COMMON-LISP|:|QUOTE| ("...)
	for i := range n {
		c.text = append(c.text, '(')
		add(i)
		c.text = append(c.text, ')')
	}
	c.text = append(c.text, "))"...)
	return c
}

// readPackage is the package in which Swank reads our calls. It matters to
// nothing: every symbol in them names its own.
const readPackage = "COMMON-LISP-USER"

// Send sends the call, to be evaluated in a thread of the image. What it answers with
// is a [swank.Grabbed], for [Decode]. The error is that of [swank.Conn.Go] or
// [sexp.ErrTooLarge], of an argument that no message holds.
func (c *Call) Send(conn *swank.Conn, thread swank.ThreadID) (*swank.Call, error) {
	if c.err != nil {
		return nil, c.err
	}
	form := swank.EvalAndGrabOutput(c)
	if c.long == nil {
		form = swank.EvalAndGrabOutput(c.String())
	}
	return conn.Go(swank.Request{Form: form, Package: readPackage, Thread: thread})
}

// Within returns the call c with a time limit that the image keeps by itself.
func (c *Call) Within(limit time.Duration, token int64) *Call {
	w := NewCall("WITHIN").Num(limit.Milliseconds()).Num(token)
	w.text = append(w.text, ' ')
	w.text = append(w.text, c.String()...)
	w.err = c.err
	return w
}

// By returns the call c, done for a client, who may be a person, and a tool, which the image
// remembers for the session.
func (c *Call) By(person bool, session, client, tool string) *Call {
	function := "BY"
	if person {
		function = "BY-PERSON"
	}
	b := NewCall(function).Str(session).Str(client).Str(tool)
	shift := len(b.text) + len(" :") - len(callHead)
	b.text = append(append(b.text, " :"...), c.text[len(callHead):]...)
	b.err = c.err
	for _, long := range c.long {
		long.at += shift
		b.long = append(b.long, long)
	}
	return b
}

// Decode decodes what a helper call has written.
func Decode(printed string, v any) error {
	if err := sexp.Unmarshal([]byte(printed), v); err != nil {
		return fmt.Errorf("lisp: the helper's answer is not understood: %w", err)
	}
	return nil
}
