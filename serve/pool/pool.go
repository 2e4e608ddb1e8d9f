package pool

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Item is what a pool has.
type Item interface {
	Alive() bool // reports whether it is still of use
	Close()      // ends it; called once, from any goroutine
}

// Options of a [Pool].
type Options[K comparable, V Item] struct {
	Size  int                                       // of what is free
	First []K                                       // the kinds that there are before any was asked for, the likeliest first
	Start func(ctx context.Context, k K) (V, error) // starts one
	// Promise is told of one that Hold is about to hand out, before the pool may close it; nil
	// is not told.
	Promise func(V)
	Log     *slog.Logger // nil discards
}

// Pool has what was started ahead, by kinds. Its methods may be called from any goroutine.
type Pool[K comparable, V Item] struct {
	o       Options[K, V]
	changed chan struct{} // one value: there may be something to fill up

	mu     sync.Mutex
	kinds  []K           // that were asked for, the last one first
	free   []entry[K, V] // the oldest first
	held   []*Held[K, V] // the oldest first
	counts Counts
}

type entry[K comparable, V Item] struct {
	kind K
	item V
}

// Counts are what there is, and what has happened since the pool was made.
type Counts struct {
	Waiting int // there are, those included that are held

	Taken  int // were there when they were asked for
	Missed int // were not
	Failed int // could not be started, or have ended before anybody wanted them
}

// New returns a pool that has nothing until Fill runs.
func New[K comparable, V Item](o Options[K, V]) *Pool[K, V] {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Pool[K, V]{o: o, kinds: slices.Clone(o.First), changed: make(chan struct{}, 1)}
}

// Take hands over one of the kind, which the caller closes, and reports whether there was one.
func (p *Pool[K, V]) Take(k K) (item V, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.takeLocked(k)
}

func (p *Pool[K, V]) takeLocked(k K) (item V, ok bool) {
	p.kinds = slices.DeleteFunc(p.kinds, func(other K) bool { return other == k })
	p.kinds = slices.Insert(p.kinds, 0, k)
	p.kinds = p.kinds[:min(len(p.kinds), max(p.o.Size, 1))]
	defer p.Look()
	i := slices.IndexFunc(p.free, func(e entry[K, V]) bool { return e.kind == k && e.item.Alive() })
	if i < 0 {
		p.counts.Missed++
		return item, false
	}
	p.counts.Taken++
	item = p.free[i].item
	p.free = slices.Delete(p.free, i, i+1)
	return item, true
}

// Held is one that was promised to somebody who may never want it.
type Held[K comparable, V Item] struct {
	pool *Pool[K, V]
	item V
}

// Hold takes one of the kind, but leaves it to the pool until it is claimed. The pool holds as
// many as it has free ones at most; the oldest are closed before that.
func (p *Pool[K, V]) Hold(k K) (h *Held[K, V], item V, ok bool) {
	p.mu.Lock()
	item, ok = p.takeLocked(k)
	if !ok {
		p.mu.Unlock()
		return nil, item, false
	}
	if p.o.Promise != nil {
		p.o.Promise(item)
	}
	h = &Held[K, V]{p, item}
	p.held = append(p.held, h)
	var oldest []*Held[K, V]
	if n := len(p.held) - p.o.Size; n > 0 {
		oldest = slices.Clone(p.held[:n])
		p.held = slices.Delete(p.held, 0, n)
	}
	p.mu.Unlock()
	for _, old := range oldest {
		old.item.Close()
	}
	return h, item, true
}

// Claim hands it over, if the pool still holds it and it is alive.
func (h *Held[K, V]) Claim() (item V, ok bool) {
	if h == nil || !h.drop() {
		return item, false
	}
	if !h.item.Alive() {
		h.item.Close()
		return item, false
	}
	return h.item, true
}

// Release says that it is not wanted any more.
func (h *Held[K, V]) Release() {
	if h != nil && h.drop() {
		h.item.Close()
	}
}

// drop takes it out of the pool, and reports whether it was there.
func (h *Held[K, V]) drop() bool {
	p := h.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.Index(p.held, h)
	if i < 0 {
		return false
	}
	p.held = slices.Delete(p.held, i, i+1)
	return true
}

// Len is how many there are, those included that are held.
func (p *Pool[K, V]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.free) + len(p.held)
}

// Counts returns what there is and what has happened.
func (p *Pool[K, V]) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counts
	c.Waiting = len(p.free) + len(p.held)
	return c
}

// Look has the pool look soon whether there is still room for what it has.
func (p *Pool[K, V]) Look() {
	select {
	case p.changed <- struct{}{}:
	default:
	}
}
