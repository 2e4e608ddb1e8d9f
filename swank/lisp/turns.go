package lisp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns lets the evaluations of one session go one at a time, in the order in
// which they came. The zero value is ready; nobody holds the turn.
type turns struct {
	mu      sync.Mutex
	holder  *turn
	waiting []*turn
	resumed chan struct{} // nil: not paused; else only free turns begin, and it is closed when that ends
	changed chan struct{} // closed when another turn begins or is described; nil while nobody wants to know
}

// A turn is the place of one job in the queue of its session.
type turn struct {
	code  string        // beginning of its code, for those who look; "" before it is known, and of what is no job
	limit time.Duration // how long it may run
	since time.Time     // when it got the turn
	ready chan struct{} // closed when it is its turn
	free  bool          // of no client: it begins also while the others are paused
}

// join puts t at the end of the queue.
func (q *turns) join(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ready = make(chan struct{})
	q.waiting = append(q.waiting, t)
	q.next()
}

// release lets t, which has joined, begin also while the others are paused.
func (q *turns) release(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.free = true
	q.next()
}

// next gives the turn, if nobody has it, to the first that may have it. q.mu is held.
func (q *turns) next() {
	if q.holder != nil {
		return
	}
	for i, t := range q.waiting {
		if q.resumed == nil || t.free {
			q.waiting = slices.Delete(q.waiting, i, i+1)
			q.begin(t)
			return
		}
	}
}

// pause has all but free turns wait, without a limit, until resume.
func (q *turns) pause() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.resumed == nil {
		q.resumed = make(chan struct{})
	}
}

func (q *turns) resume() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.resumed != nil {
		close(q.resumed)
		q.resumed = nil
		q.next()
	}
}

// paused returns what is closed when those that wait go on; nil if they do not wait for that.
func (q *turns) paused() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.resumed
}

// describe says what t is for.
func (q *turns) describe(t *turn, code string, limit time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.code, t.limit = code, limit
	q.change()
}

// change tells those that wait for it that another turn has begun, or is described. q.mu is
// held.
func (q *turns) change() {
	if q.changed != nil {
		close(q.changed)
		q.changed = nil
	}
}

// waitIdle waits until t, which has joined, has the turn, unless a job of a client has it, or
// gets it first. The error is a *BusyError or the cause of ctx; t has left the queue then.
func (q *turns) waitIdle(ctx context.Context, t *turn) error {
	for {
		q.mu.Lock()
		busy := q.holder != nil && q.holder != t && q.holder.code != ""
		if q.changed == nil {
			q.changed = make(chan struct{})
		}
		changed := q.changed
		q.mu.Unlock()
		if busy {
			if err := q.leave(t); err != nil {
				return err
			}
			return nil // it has got the turn meanwhile
		}
		select {
		case <-t.ready:
			return nil
		case <-changed:
		case <-ctx.Done():
			if q.leave(t) == nil {
				return nil
			}
			return context.Cause(ctx)
		}
	}
}

// wait waits until t, which has joined, has the turn, at most as long as t may run; the
// time for which it is paused does not count.
// The error is a *BusyError or the cause of ctx; t has left the queue then.
func (q *turns) wait(ctx context.Context, t *turn) error {
	select {
	case <-t.ready:
		return nil
	default:
	}
	timer := time.NewTimer(t.limit)
	defer timer.Stop()
	var err error
	for over := false; !over; {
		paused := q.paused()
		limit := timer.C
		if paused != nil && !t.free {
			limit = nil
		}
		select {
		case <-t.ready:
			return nil
		case <-ctx.Done():
			err, over = context.Cause(ctx), true
		case <-paused:
			timer.Reset(t.limit)
		case <-limit:
			over = t.free || q.paused() == nil
		}
	}
	busy := q.leave(t)
	switch {
	case busy == nil: // it has got the turn meanwhile
		return nil
	case err != nil:
		return err
	}
	return busy
}

// begin gives t the turn. q.mu is held.
func (q *turns) begin(t *turn) {
	t.since = time.Now()
	q.holder = t
	close(t.ready)
	q.change()
}

// leave takes t out of the queue and describes what it waited for; nil if it is
// not in the queue any more.
func (q *turns) leave(t *turn) *BusyError {
	q.mu.Lock()
	defer q.mu.Unlock()
	before := slices.Index(q.waiting, t)
	if before < 0 {
		return nil
	}
	q.waiting = slices.Delete(q.waiting, before, before+1)
	busy := &BusyError{Waited: t.limit, Ahead: before}
	if h := q.holder; h != nil { // else it was paused
		busy.Code, busy.Age, busy.Limit = h.code, time.Since(h.since), h.limit
		if h.code == "" { // its limit is how long it waited for its turn
			busy.Code, busy.Limit = "work that evaluates nothing", 0
		}
	}
	return busy
}

// done ends the turn of its holder and begins the next one's.
func (q *turns) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holder = nil
	q.next()
}

// running describes the evaluation that has the turn, nil if none, and says
// how many wait.
func (q *turns) running() (*Running, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.holder == nil || q.holder.code == "" {
		return nil, len(q.waiting)
	}
	return &Running{Code: q.holder.code, Age: time.Since(q.holder.since)}, len(q.waiting)
}
