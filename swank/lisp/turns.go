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
}

// A turn is the place of one job in the queue of its session.
type turn struct {
	code  string        // beginning of its code, for the error of those who wait; "" before it is known
	limit time.Duration // how long it may run
	since time.Time     // when it got the turn
	ready chan struct{} // closed when it is its turn
}

// join puts t at the end of the queue.
func (q *turns) join(t *turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.ready = make(chan struct{})
	if q.holder == nil {
		q.begin(t)
	} else {
		q.waiting = append(q.waiting, t)
	}
}

// describe says what t is for.
func (q *turns) describe(t *turn, code string, limit time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.code, t.limit = code, limit
}

// wait waits until t, which has joined, has the turn, at most as long as t may run.
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
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
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
	h := q.holder
	return &BusyError{Waited: t.limit, Code: h.code, Age: time.Since(h.since), Limit: h.limit, Ahead: before}
}

// done ends the turn of its holder and begins the next one's.
func (q *turns) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.holder = nil
	if len(q.waiting) > 0 {
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		q.begin(next)
	}
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
