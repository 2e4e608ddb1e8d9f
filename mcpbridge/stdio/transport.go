package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/sourcegraph/jsonrpc2"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/rawtext"
)

// DefaultGrace is how long calls in flight may go on after the end of input.
const DefaultGrace = 5 * time.Second

// Transport is the [mcp.Transport] of this package. It differs from the SDK's in what
// a client can do to it: no line ends the session (a malformed one is answered with a
// JSON-RPC error), a cancelled call is not answered, calls in flight at the end of
// input are, and ids come back as they were sent, also those of two calls with the
// same id.
type Transport struct {
	In      io.ReadCloser
	Out     io.Writer     // closed with the connection if it is an io.Closer
	Grace   time.Duration // zero is DefaultGrace; negative is none
	MaxLine int           // in bytes; zero is DefaultMaxLine

	Order *Order       // where the handlers of calls say that they are there; nil for none
	Aside *aside.Store // where handlers find long arguments; nil leaves them in the calls
}

// Connect implements [mcp.Transport]. It starts the goroutine that reads In;
// the goroutine ends with the input or when the connection is closed, which
// closes In. Where that does not wake a Read of In (a blocking stdin), the
// goroutine stays behind in it.
func (t *Transport) Connect(context.Context) (mcp.Connection, error) {
	if t.In == nil || t.Out == nil {
		return nil, errors.New("mcpbridge: stdio transport without streams")
	}
	c := &Conn{
		in:       t.In,
		out:      &outlet{Writer: t.Out},
		grace:    t.Grace,
		maxLine:  t.MaxLine,
		order:    t.Order,
		aside:    t.Aside,
		incoming: make(chan jsonrpc.Message),
		read:     make(chan struct{}),
		closed:   make(chan struct{}),
		calls:    calls{byID: make(map[jsonrpc.ID]*call)},
	}
	if c.grace == 0 {
		c.grace = DefaultGrace
	}
	if c.maxLine == 0 {
		c.maxLine = DefaultMaxLine
	}
	c.stream = jsonrpc2.NewBufferedStream(streams{bufio.NewReaderSize(t.In, 64<<10), t.In, c.out}, lineCodec{c.maxLine})
	go c.readAll()
	return c, nil
}

// streams makes one stream of two.
type streams struct {
	io.Reader
	in  io.Closer
	out *outlet
}

func (s streams) Write(b []byte) (int, error) { return s.out.Write(b) }

func (s streams) Close() error {
	err := s.in.Close()
	if out, ok := s.out.Writer.(io.Closer); ok {
		err = errors.Join(err, out.Close())
	}
	return err
}

// Conn is the [mcp.Connection] of a [Transport].
//
// readAll owns the input: it takes lines apart, answers what is no message,
// registers calls, and hands messages to Read. Writes come from anywhere; the
// stream's lock keeps the lines whole.
type Conn struct {
	stream   jsonrpc2.ObjectStream
	in       io.Reader // only to see whether the other end is closed
	out      *outlet
	grace    time.Duration
	maxLine  int
	order    *Order
	aside    *aside.Store
	incoming chan jsonrpc.Message // closed by readAll after the end of input
	read     chan struct{}        // closed then, too
	ended    atomic.Bool          // the end of input has been read
	leaving  sync.Once            // for seeOff

	calls   calls
	writing sync.Mutex // held while an answer is made into a line and written

	closeOnce sync.Once
	closed    chan struct{}
	closeErr  error
}

// SessionID implements [mcp.Connection]: stdio has no session id.
func (*Conn) SessionID() string { return "" }

// InputEnded is closed when all of the input has been read, and the calls in it
// are answered or have used up the grace.
func (c *Conn) InputEnded() <-chan struct{} { return c.read }

// Read implements [mcp.Connection].
func (c *Conn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case msg, ok := <-c.incoming:
		if ok {
			return msg, nil
		}
		return nil, io.EOF
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements [mcp.Connection].
func (c *Conn) Close() error {
	c.closeOnce.Do(func() {
		close(c.closed)
		c.closeErr = c.stream.Close()
	})
	return c.closeErr
}

// readAll reads until the end of input, then waits for the calls in flight.
// The SDK drops their answers as soon as Read reports the end.
func (c *Conn) readAll() {
	defer close(c.read)
	defer close(c.incoming)
	for first := true; ; first = false {
		var f frame
		if err := c.stream.ReadObject(&f); err != nil {
			break
		}
		if first {
			// Some systems begin what they write into a pipe like a file.
			f.data = bytes.TrimPrefix(f.data, []byte("\ufeff"))
			if len(f.data) == 0 {
				continue
			}
		}
		if !c.accept(&f) {
			return
		}
	}
	c.ended.Store(true)
	c.mayLeave()
	timer := time.NewTimer(max(c.grace, 0))
	defer timer.Stop()
	select {
	case <-c.calls.idle():
	case <-timer.C:
	case <-c.closed:
	}
}

// accept deals with one line. It returns false when the connection is closed.
func (c *Conn) accept(f *frame) bool {
	if err := checkLine(f, c.maxLine); err != nil {
		var id []byte
		if err.Code == jsonrpc.CodeInvalidRequest {
			id = edgeID(f)
		}
		return c.write(errorLine(id, err))
	}
	if f.data[0] != '[' {
		line := f.data
		f.data = nil // the call may begin before this returns, and have copies of its own
		return c.acceptOne(line, nil)
	}
	elements := rawtext.Elements(f.data)
	switch n := len(elements); {
	case n == 0:
		return c.write(errorLine(nil, refuse(jsonrpc.CodeInvalidRequest, "invalid request: empty batch")))
	case n > MaxBatch:
		return c.write(errorLine(nil, refuse(jsonrpc.CodeInvalidRequest,
			"invalid request: a batch of %d messages; at most %d are taken, send the others as lines of their own", n, MaxBatch)))
	}
	// One more than the elements, so that the answer is not sent in between.
	b := &batch{waiting: len(elements) + 1, size: len(f.data) + len(elements)*replyBytes}
	if !c.calls.budget.take(b.size, c.closed, c.mayLeave) {
		return false
	}
	for _, e := range elements {
		if !c.acceptOne(e, b) {
			return false
		}
	}
	return c.answer(b, nil)
}

// acceptOne deals with one valid JSON value, alone or of a batch.
func (c *Conn) acceptOne(raw []byte, b *batch) bool {
	m, refusal := parseMessage(raw)
	switch {
	case refusal != nil:
		return c.answer(b, errorLine(m.id, refusal))
	case m.isCall():
		method := rawtext.Unquote(m.method)
		if wrong := CheckToken(m.params); wrong != nil {
			return c.answer(b, errorLine(m.id, wrong))
		}
		// Cloned, so that the call does not keep the whole line in memory.
		k := &call{id: bytes.Clone(m.id), batch: b, parked: method == "subscriptions/listen"}
		if !k.parked && b == nil { // a batch is counted as a whole: its answers are one line
			k.size = len(raw) + replyBytes
		}
		if !c.calls.budget.take(k.size, c.closed, c.mayLeave) {
			return false
		}
		params := m.params
		if method == "tools/call" {
			k.gate = c.order.next()
			if c.aside != nil {
				params, k.aside = aside.Cut(params)
				c.aside.Keep(k.aside)
			}
		}
		id := c.calls.add(k)
		return c.deliver(&jsonrpc.Request{ID: id, Method: method, Params: params}) && c.waitAt(k.gate)
	case m.method == nil:
		return c.acceptResponse(&m) && c.answer(b, nil)
	}
	method := rawtext.Unquote(m.method)
	if method != "notifications/cancelled" {
		return c.deliver(&jsonrpc.Request{Method: method, Params: m.params}) && c.answer(b, nil)
	}
	for _, id := range c.calls.cancel(rawtext.Member(m.params, "requestId")) {
		params, err := json.Marshal(&mcp.CancelledParams{RequestID: id.Raw()})
		if err != nil {
			continue
		}
		if !c.deliver(&jsonrpc.Request{Method: method, Params: params}) {
			return false
		}
	}
	return c.answer(b, nil)
}

func (c *Conn) acceptResponse(m *message) bool {
	if m.id == nil {
		return true
	}
	id, ok := sdkID(m.id)
	if !ok {
		return true // an answer to nothing that we asked
	}
	resp := &jsonrpc.Response{ID: id, Result: m.result}
	if m.err != nil {
		var e jsonrpc.Error
		if err := json.Unmarshal(m.err, &e); err != nil {
			e = jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "malformed error"}
		}
		resp.Error = &e
	}
	return c.deliver(resp)
}

func (c *Conn) deliver(msg jsonrpc.Message) bool {
	select {
	case c.incoming <- msg:
		return true
	case <-c.closed:
		return false
	}
}

// waitAt waits until the messages behind a call may be delivered.
func (c *Conn) waitAt(g *gate) bool {
	if g == nil {
		return true
	}
	select {
	case <-g.open:
		return true
	case <-c.closed:
		return false
	}
}

// Write implements [mcp.Connection].
func (c *Conn) Write(_ context.Context, msg jsonrpc.Message) error {
	resp, ok := msg.(*jsonrpc.Response)
	if !ok {
		line, err := jsonrpc.EncodeMessage(msg)
		if err != nil {
			return fmt.Errorf("mcpbridge: encoding %T: %w", msg, err)
		}
		return c.stream.WriteObject(append(line, '\n'))
	}
	k := c.calls.take(resp.ID)
	if k == nil {
		return nil
	}
	k.gate.pass()
	if c.aside != nil {
		c.aside.Discard(k.aside)
	}
	defer c.calls.finish(k)
	if k.batch != nil {
		var line []byte
		if !k.cancelled {
			line = responseLine(nil, k.id, resp)
		}
		line, last := k.batch.done(line)
		if last {
			defer c.calls.budget.give(k.batch.size)
		}
		if line == nil {
			return nil
		}
		return c.stream.WriteObject(line)
	}
	if k.cancelled {
		return nil
	}
	c.writing.Lock() // with many that wait for the client there is one line of text
	defer c.writing.Unlock()
	buf := lines.Get().(*[]byte)
	*buf = responseLine((*buf)[:0], k.id, resp)
	err := c.stream.WriteObject(*buf)
	if cap(*buf) <= 64<<10 {
		lines.Put(buf)
	}
	return err
}

// answer counts one element of b as dealt with, with line as its answer if it has
// one; without a batch it writes line.
func (c *Conn) answer(b *batch, line []byte) bool {
	line, last := b.done(line)
	if last {
		defer c.calls.budget.give(b.size)
	}
	return c.write(line)
}

// write sends a line of the transport's own. A client that does not read its
// errors is not worth ending the session for: the SDK's next write will see.
func (c *Conn) write(line []byte) bool {
	if line != nil {
		_ = c.stream.WriteObject(line)
	}
	select {
	case <-c.closed:
		return false
	default:
		return true
	}
}

var lines = sync.Pool{New: func() any { return new([]byte) }}
