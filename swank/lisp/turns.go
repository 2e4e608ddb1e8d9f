package lisp

import (
	"context"
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

// A turn is one evaluation's place in the queue of its session.
type turn struct {
	code  string        // beginning of its code, for those who wait
	limit time.Duration // how long it may run
	since time.Time     // when it got the turn
	ready chan struct{} // closed when it is its turn

	queued func() // told when the place in the queue is taken; may be nil
}

// take waits until t has the turn, at most as long as t may run. The error is
// a *BusyError or the cause of ctx.
func (q *turns) take(ctx context.Context, t *turn) error {
	q.mu.Lock()
	wait := q.holder != nil
	if wait {
		t.ready = make(chan struct{})
		q.waiting = append(q.waiting, t)
	} else {
		q.begin(t)
	}
	q.mu.Unlock()
	if t.queued != nil {
		t.queued()
	}
	if !wait {
		return nil
	}

	timer := time.NewTimer(t.limit)
	defer timer.Stop()
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		if q.leave(t) {
			return context.Cause(ctx)
		}
	case <-timer.C:
		if busy := q.giveUp(t); busy != nil {
			return busy
		}
	}
	return nil // it became t's turn at the same moment
}

func (q *turns) begin(t *turn) {
	t.since = time.Now()
	q.holder = t
}

// leave takes t out of the queue and reports whether it was still there.
func (q *turns) leave(t *turn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remove(t) >= 0
}

// remove returns the place that t had in the queue, or -1.
func (q *turns) remove(t *turn) int {
	for i, w := range q.waiting {
		if w == t {
			q.waiting = append(q.waiting[:i], q.waiting[i+1:]...)
			return i
		}
	}
	return -1
}

// giveUp is leave with a description of what t waited for; nil if t has the
// turn after all.
func (q *turns) giveUp(t *turn) *BusyError {
	q.mu.Lock()
	defer q.mu.Unlock()
	ahead := q.remove(t)
	if ahead < 0 {
		return nil
	}
	h := q.holder
	return &BusyError{Waited: t.limit, Code: h.code, Age: time.Since(h.since), Limit: h.limit, Ahead: ahead}
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
		close(next.ready)
	}
}

// running describes the evaluation that has the turn, nil if none, and says
// how many wait.
func (q *turns) running() (*Running, int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.holder == nil {
		return nil, 0
	}
	return &Running{Code: q.holder.code, Age: time.Since(q.holder.since)}, len(q.waiting)
}
