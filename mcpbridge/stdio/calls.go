package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"swank-mcp/mcpbridge/aside"
	"swank-mcp/mcpbridge/rawtext"
)

// call is a request of the client that has not been answered.
type call struct {
	id        []byte // as the client wrote it
	batch     *batch // the batch it came in, or nil
	parked    bool   // is answered only when the client ends it; the end of input does not wait for it
	cancelled bool
	gate      *gate            // that messages behind it wait at, or nil
	aside     *aside.Arguments // kept from the SDK, or nil
	size      int              // in flight
}

// calls are the requests in flight, by the id under which the SDK knows them.
type calls struct {
	mu      sync.Mutex
	budget  budget
	byID    map[jsonrpc.ID]*call
	seq     int
	working int           // calls without an answer written, parked ones aside
	drained chan struct{} // non-nil once somebody waits; closed at working 0
}

// add registers k and returns the SDK's id for it: the client's own, unless the
// SDK would not keep it exactly or a call in flight has it already.
func (c *calls) add(k *call) jsonrpc.ID {
	id, exact := sdkID(k.id)
	c.mu.Lock()
	defer c.mu.Unlock()
	for !exact || c.byID[id] != nil {
		c.seq++
		id, _ = jsonrpc.MakeID(fmt.Sprintf("swank-mcp#%d", c.seq))
		exact = true
	}
	c.byID[id] = k
	if !k.parked {
		c.working++
	}
	return id
}

// cancel marks the calls with the client's raw id, whose answers will not be
// sent, and returns the SDK's ids for them.
func (c *calls) cancel(raw []byte) (ids []jsonrpc.ID) {
	if len(raw) == 0 {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, k := range c.byID {
		if sameID(k.id, raw) {
			k.cancelled = true
			ids = append(ids, id)
		}
	}
	return ids
}

// take removes the call that id stands for, nil if there is none. It stays in
// flight until finish.
func (c *calls) take(id jsonrpc.ID) *call {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byID[id]
	delete(c.byID, id)
	return k
}

// finish says that the answer of k has been written, or never will be.
func (c *calls) finish(k *call) {
	c.budget.give(k.size)
	if k.parked {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.working--; c.working == 0 && c.drained != nil {
		close(c.drained)
		c.drained = nil
	}
}

// idle returns a channel that is closed when no call is in flight. No call may
// be added after it.
func (c *calls) idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := make(chan struct{})
	if c.working == 0 {
		close(done)
	} else {
		c.drained = done
	}
	return done
}

// batch collects the answers to one JSON array of requests. MCP had batches
// in 2025-03-26 only; they are answered whatever the version.
type batch struct {
	mu      sync.Mutex
	waiting int
	size    int // in flight
	out     []byte
}

// done counts one element as dealt with; line is its answer, if it has one.
// It returns what is to be written now: line itself outside a batch (nil b),
// all answers as one line after the last element, else nil; and whether it was
// the last element.
func (b *batch) done(line []byte) (out []byte, last bool) {
	if b == nil {
		return line, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if line != nil {
		sep := byte('[')
		if len(b.out) > 0 {
			sep = ','
		}
		b.out = append(append(b.out, sep), bytes.TrimRight(line, "\n")...)
	}
	b.waiting--
	last = b.waiting == 0
	if !last || b.out == nil {
		return nil, last
	}
	return append(b.out, "]\n"...), true
}

// MaxErrorMessage is the length in bytes at which the SDK's error messages,
// some of which repeat their input, are cut.
const MaxErrorMessage = 1000

// responseLine appends the line that answers the call with the raw id. It is
// written by hand because result is JSON already.
func responseLine(b, id []byte, resp *jsonrpc.Response) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = appendID(b, id)
	if resp.Error == nil {
		b = append(b, `,"result":`...)
		b = appendPlain(b, resp.Result)
		return append(b, "}\n"...)
	}
	e := jsonrpc.Error{Message: resp.Error.Error()}
	var wire *jsonrpc.Error
	if errors.As(resp.Error, &wire) {
		e.Code, e.Data = wire.Code, wire.Data
	}
	if e.Code == 0 {
		e.Code = jsonrpc.CodeInvalidRequest // the SDK's own refusals have none
	}
	e.Message = rawtext.Clip(e.Message, MaxErrorMessage)
	b = append(b, `,"error":`...)
	text, err := json.Marshal(&e)
	if err != nil { // only a malformed Data can fail
		text = []byte(`{"code":-32603,"message":"internal error"}`)
	}
	return append(append(b, text...), "}\n"...)
}

// errorLine is the answer to something that is not a request.
func errorLine(id []byte, err *jsonrpc.Error) []byte {
	return responseLine(nil, id, &jsonrpc.Response{Error: err})
}

func appendID(b, id []byte) []byte {
	switch {
	case id == nil:
		return append(b, "null"...)
	case utf8.Valid(id):
		return append(b, id...)
	}
	return append(b, bytes.ToValidUTF8(id, []byte("\ufffd"))...)
}
