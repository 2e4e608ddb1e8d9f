package lisp

import (
	"context"
	"sync"
)

// A Place is a place in the queue of a session that is taken before its job is known:
// the reader of a client's requests takes places in their order, and the goroutines
// that carry the requests out may overtake each other. A nil Place is none.
type Place struct {
	mu sync.Mutex
	s  *Session
	t  *turn // nil when a job has it, or it was left
}

// Queue takes the next place in the queue of the session; title is what it is called in
// the error of those who wait. All jobs behind it wait until a job takes it, by
// [Place.Within], and ends, or until it is left.
func (s *Session) Queue(title string) *Place {
	p := &Place{s: s, t: &turn{code: title}}
	p.s.join(p.t)
	return p
}

type placeKey struct{}

// Within returns a context whose first job in that session has the place.
func (p *Place) Within(ctx context.Context) context.Context {
	if p == nil {
		return ctx
	}
	return context.WithValue(ctx, placeKey{}, p)
}

// Leave gives the place up, unless a job has it.
func (p *Place) Leave() {
	if t := p.take(); t != nil && p.s.leave(t) == nil { // it is the holder
		p.s.done()
	}
}

func (p *Place) take() *turn {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.t
	p.t = nil
	return t
}

// place returns a turn of s that has joined the queue: the one taken for ctx, or one at
// the end. A free one does not wait while a person has paused the others.
func (s *Session) place(ctx context.Context, free bool) *turn {
	if p, ok := ctx.Value(placeKey{}).(*Place); ok && p.s == s {
		if t := p.take(); t != nil {
			if free {
				s.release(t)
			}
			return t
		}
	}
	t := &turn{free: free}
	s.join(t)
	return t
}
