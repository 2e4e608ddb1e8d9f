package swank

import (
	"context"
	"fmt"
	"strconv"

	"swank-mcp/sexp"
)

// ThreadID names a Lisp thread. Swank numbers threads from 1 up, or since 2.30
// uses the operating system's numbers. A Lisp without threads has number 0,
// where it does not matter what a request names.
type ThreadID int64

// NewWorker has a request run in a new thread of its own. Such requests run
// in parallel and are answered in any order. Each one leaves a mailbox in
// the image that is never freed, so they are not for frequent use.
const NewWorker ThreadID = 0

// AppendSexp implements [sexp.Appender].
func (t ThreadID) AppendSexp(b []byte) ([]byte, error) {
	switch {
	case t == NewWorker:
		return append(b, 't'), nil
	case t < 0:
		return nil, fmt.Errorf("swank: invalid thread %d", int64(t))
	}
	return strconv.AppendInt(b, int64(t), 10), nil
}

// Request is one evaluation, :emacs-rex on the wire.
type Request struct {
	// Form is evaluated in Lisp. It is encoded by [sexp.Append]; symbols need
	// their package (swank:connection-info), since the Lisp reader is in a
	// package of Swank's own. Text of users belongs in strings only.
	Form any

	// Package is the exact name of the package in which Lisp reads and prints
	// strings for this request. Empty: COMMON-LISP-USER. Swank takes an
	// unknown name for the global *package* without saying so, and reads a name
	// that is not exact as Lisp, read-time evaluation included: pass only
	// names that the image itself has given.
	Package string

	// Thread runs the form. Zero: a new worker thread.
	Thread ThreadID
}

func appendRequest(b []byte, r *Request, id int64, newline bool) ([]byte, error) {
	b = append(b, "000000(:emacs-rex "...)
	b, err := sexp.Append(b, r.Form)
	if err != nil {
		return nil, fmt.Errorf("swank: encoding a request: %w", err)
	}
	b = append(b, ' ')
	if r.Package == "" {
		b = append(b, `"COMMON-LISP-USER"`...)
	} else if b, err = sexp.Append(b, r.Package); err != nil {
		return nil, fmt.Errorf("swank: encoding package %q: %w", r.Package, err)
	}
	b = append(b, ' ')
	if b, err = r.Thread.AppendSexp(b); err != nil {
		return nil, err
	}
	b = append(b, ' ')
	b = strconv.AppendInt(b, id, 10)
	b = append(b, ')')
	if newline {
		b = append(b, '\n')
	}
	if err := finishFrame(b, 0); err != nil {
		return nil, fmt.Errorf("swank: encoding a request: %w", err)
	}
	return b, nil
}

// Call is a request that was sent.
type Call struct {
	conn *Conn
	id   int64
	done chan struct{}

	debug *Debug // guarded by conn.mu

	// Written by the reader before done is closed, read only after that.
	value sexp.Raw
	err   error
}

// Go sends a request and returns when it is written, which goes on for as long as
// the peer takes something; see [Options.WriteTimeout]. A request that cannot be
// encoded, or is larger than a frame, is an error that leaves the connection as it
// was; every other error is the cause of the connection's failure.
func (c *Conn) Go(r Request) (*Call, error) {
	c.wmu.Lock()
	defer c.wmu.Unlock()
	id := c.nextID
	b, err := appendRequest(c.wbuf[:0], &r, id, c.opts.Newline)
	if err != nil {
		return nil, err
	}
	k := &Call{conn: c, id: id, done: make(chan struct{})}
	c.mu.Lock()
	if c.err != nil {
		defer c.mu.Unlock()
		return nil, c.err
	}
	c.calls[id] = k
	c.mu.Unlock()
	c.nextID++
	if err := c.write(b); err != nil {
		return nil, err
	}
	return k, nil
}

// Call sends a request and waits for its answer as [Call.Wait] does.
func (c *Conn) Call(ctx context.Context, r Request, v any) error {
	k, err := c.Go(r)
	if err != nil {
		return err
	}
	return k.Wait(ctx, v)
}

// Done returns a channel that is closed when the answer is there or the
// connection has failed.
func (k *Call) Done() <-chan struct{} { return k.done }

// Wait waits for the answer and decodes its value into v by the rules of
// [sexp.Unmarshal]; a nil v ignores the value. The answer can be an error:
// [AbortError], [InvalidRPCError], [ReaderError], [MessageError], or the cause
// of the connection's failure.
//
// ctx governs the waiting only. When it ends, Wait returns its cause; the call
// stays pending, Lisp goes on with it, and Wait may be called again.
//
// An error in the Lisp code is no answer: Lisp enters its debugger, the handler
// gets a [Debug] and the call stays pending until the debugger is left.
func (k *Call) Wait(ctx context.Context, v any) error {
	select {
	case <-k.done:
	default:
		select {
		case <-k.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if k.err != nil {
		return k.err
	}
	if v == nil {
		v = new(sexp.Raw)
	}
	if err := sexp.Unmarshal(k.value, v); err != nil {
		return &MessageError{k.id, clip(k.value, 200), err}
	}
	return nil
}

// Debug returns the innermost debugger that the call is in, or nil if it is
// not in one. It changes before the handler is told.
func (k *Call) Debug() *Debug {
	k.conn.mu.Lock()
	defer k.conn.mu.Unlock()
	return k.debug
}

// complete ends the call. Only the reader calls it, once.
func (k *Call) complete(value sexp.Raw, err error) {
	k.value, k.err = value, err
	close(k.done)
}

// take removes the pending call with the given id. It returns nil if there is
// none, which is ordinary: another client of the image may have sent a request
// to one of our threads.
func (c *Conn) take(id int64) *Call {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.calls[id]
	if k != nil {
		delete(c.calls, id)
		k.debug = nil
	}
	return k
}
