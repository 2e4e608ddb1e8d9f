package serve

import (
	"bytes"
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge/aside"
)

// writeTime is how long a client may take to read a part of an answer.
var writeTime = 30 * time.Second

// beatTime is how often a client that waits for an answer is sent a sign of life: clients,
// and proxies before them, take a connection for dead on which nothing comes for a minute.
var beatTime = 15 * time.Second

// stream is the answer to a request. Each write has a time limit; between writes there is
// none, as HTTP/2 ends a stream when its limit passes.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController

	mu    sync.Mutex // held while something is written
	long  bool       // it may be long until it is written
	over  bool
	timer *time.Timer

	holds bool   // the event by which a client can come back for the answer waits for a while
	held  []byte // that event
}

func newStream(w http.ResponseWriter, holds bool) *stream {
	return &stream{ResponseWriter: w, control: http.NewResponseController(w), holds: holds}
}

// holdTime is how long an answer does not begin that has nothing to say yet, where a proxy
// stands before servers that share their sessions: until it has begun, the proxy can say to
// send the call again if the server dies.
const holdTime = 2 * time.Second

// prime is how the event begins by which a client can come back.
var prime = []byte("event: prime\n")

// Write implements http.ResponseWriter. From the first one that is not held on, a long stream
// beats: what the SDK writes of it then is the head of the older era's.
func (w *stream) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.limit()()
	if w.holds && w.long && bytes.HasPrefix(b, prime) { // it comes once, and first
		w.held = bytes.Clone(b)
		time.AfterFunc(holdTime, w.release)
		return len(b), nil
	}
	w.beginLocked()
	if err := w.releaseLocked(); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}

// release writes what is held.
func (w *stream) release() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over || w.held == nil {
		return
	}
	defer w.limit()()
	w.beginLocked()
	if w.releaseLocked() == nil {
		_ = w.control.Flush() // who does not read is met at the next write
	}
}

func (w *stream) releaseLocked() error {
	if w.held == nil {
		return nil
	}
	held := w.held
	w.held = nil
	_, err := w.ResponseWriter.Write(held)
	return err
}

// FlushError is what http.ResponseController calls.
func (w *stream) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		return nil
	}
	defer w.limit()()
	return w.control.Flush()
}

func (w *stream) limit() (end func()) {
	_ = w.control.SetWriteDeadline(time.Now().Add(writeTime))
	return func() { _ = w.control.SetWriteDeadline(time.Time{}) }
}

// Unwrap is for http.ResponseController, too.
func (w *stream) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// mayBeLong says that signs of life are wanted, until the function returned is called: from
// [stream.begin] or the first write on. Before that the SDK may still write the head.
func (w *stream) mayBeLong() (end func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.long = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		_ = w.releaseLocked() // who was not answered comes back by it
		w.over = true
		if w.timer != nil {
			w.timer.Stop()
		}
	}
}

// begin says that the head of the answer will not be changed any more.
func (w *stream) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.beginLocked()
}

func (w *stream) beginLocked() {
	if w.long && !w.over && w.timer == nil {
		w.timer = time.AfterFunc(beatTime, w.beat)
	}
}

// beat writes a sign of life: a comment, which clients pass over. The SDK writes each event
// as a whole.
func (w *stream) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return
	}
	defer w.limit()()
	_, err := w.ResponseWriter.Write([]byte(": still at work\n\n"))
	if err == nil && w.control.Flush() == nil {
		w.timer.Reset(beatTime)
	}
}

type streamKey struct{}

// beginStreams has the answers to calls of the newer era begin to beat when their handlers
// begin.
func beginStreams(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		if out, ok := ctx.Value(streamKey{}).(*stream); ok {
			out.begin()
		}
		return next(ctx, method, r)
	}
}

// puttingBack gives calls of tools the arguments that were put aside.
func puttingBack(kept *aside.Store) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if call, ok := r.(*mcp.CallToolRequest); ok {
				call.Params.Arguments = kept.Take(call.Params.Arguments)
			}
			return next(ctx, method, r)
		}
	}
}
