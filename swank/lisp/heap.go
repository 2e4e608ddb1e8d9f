package lisp

import (
	"context"
	"sync"

	"swank-mcp/swank/lisp/helper"
)

// Heap is what the image that runs has said of its heap last; the zero value where none runs,
// or no session is there.
type Heap struct {
	Used   int64  // bytes; 0 before it has said so
	Limit  int64  // bytes
	Silent string // why nothing newer is known, "" if this is new
}

// heaps are the answers of one image. The zero value is one that was not asked.
type heaps struct {
	mu     sync.Mutex
	last   Heap
	asking chan struct{} // closed when the answer is there that is waited for; nil: none is
}

// Heap asks the image that runs what it has in its heap, and waits for that until ctx ends. An
// answer that comes later is that of the next call.
func (im *Image) Heap(ctx context.Context) Heap {
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	sessions := im.known()
	if inst == nil || len(sessions) == 0 {
		return Heap{}
	}
	h := &inst.heaps
	h.mu.Lock()
	asking := h.asking
	if asking == nil {
		asking = make(chan struct{})
		if im.untilClosed(func() { h.ask(im.ctx, inst, sessions[0].name, asking) }) {
			h.asking = asking
		} else {
			close(asking)
		}
	}
	h.mu.Unlock()
	silent := ""
	select {
	case <-asking:
	case <-ctx.Done():
		silent = "it has not answered yet"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.last
	if silent != "" && h.asking == asking {
		known.Silent = silent
	}
	return known
}

// ask ends when inst has answered, or has ended.
func (h *heaps) ask(ctx context.Context, inst *instance, session string, asking chan struct{}) {
	var w wireStatus
	answer, err := inst.ask(ctx, helper.NewCall("STATUS").Str(session))
	if err == nil {
		err = helper.Decode(answer, &w)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last.Silent = ""; err != nil {
		h.last.Silent = err.Error()
	} else {
		h.last.Used, h.last.Limit = w.HeapUsed, w.HeapLimit
	}
	h.asking = nil
	close(asking)
}
