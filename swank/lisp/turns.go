package lisp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// turns lets the evaluations of one session go one at a time, in the order in
// which they came. The zero value is ready; nobody holds the turn.
//
// An evaluation may be sent to its Lisp thread ahead of its turn: the thread
// takes what it is sent one by one, so the order is the same and the image
// need not wait for the bridge between two of them. What is sent ahead still
// waits here for its turn, which is when its time begins.
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
	ahead  sender // sends it ahead of its turn; nil: it must not be

	// What it waited for when its time was up and the image did not say whether
	// it had begun; for the goroutine that takes the turn.
	late *BusyError

	// Guarded by the mutex of the queue:
	lane *lane         // where it has been sent, nil if it has not
	near chan struct{} // closed when it may be sent ahead; nil: it may not yet
}

// A sender sends an evaluation before it has the turn.
type sender interface {
	// send sends it to l and reports whether it did.
	send(l *lane) bool
	// withdraw reports whether it is certain that nothing of what was sent has
	// been evaluated, and that nothing of it will be.
	withdraw() bool
}

// sendAhead is how many of those who wait may have been sent.
const sendAhead = 2

// take waits until t has the turn, at most as long as t may run. The error is
// a *BusyError or the cause of ctx.
func (q *turns) take(ctx context.Context, t *turn) error {
	var near chan struct{}
	q.mu.Lock()
	wait := q.holder != nil
	if wait {
		t.ready = make(chan struct{})
		if t.ahead != nil {
			near = make(chan struct{})
			t.near = near
		}
		q.waiting = append(q.waiting, t)
		q.advance()
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
	gone, late := ctx.Done(), timer.C
	for {
		select {
		case <-t.ready:
			return nil
		case <-near:
			near = nil
			q.sendAhead(t)
		case <-gone:
			gone = nil
			if q.leave(t) {
				return context.Cause(ctx)
			}
		case <-late:
			late = nil
			if busy := q.giveUp(t); busy != nil {
				return busy
			}
		}
	}
}

// begin gives t the turn. q.mu is held.
func (q *turns) begin(t *turn) {
	t.since = time.Now()
	q.holder = t
}

// sent notes that the holder of the turn has been sent to l, so that others
// may follow it there.
func (q *turns) sent(t *turn, l *lane) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.lane = l
	q.advance()
}

// sendAhead sends t where the holder was sent. Everything before t has been
// sent, and what comes after waits for t, so that the order is kept.
func (q *turns) sendAhead(t *turn) {
	q.mu.Lock()
	var l *lane
	if q.holder != nil && q.holder != t {
		l = q.holder.lane
	}
	q.mu.Unlock()
	if l == nil || !t.ahead.send(l) {
		return // it is sent when it has the turn
	}
	q.sent(t, l)
}

// advance lets the first one that has not been sent be sent, if it may be.
// q.mu is held.
func (q *turns) advance() {
	if q.holder == nil || q.holder.lane == nil || q.holder.ahead == nil {
		return
	}
	for i, t := range q.waiting {
		switch {
		case t.lane == q.holder.lane:
			continue
		case i < sendAhead && t.lane == nil && t.near != nil:
			close(t.near)
			t.near = nil
		}
		return
	}
}

// leave takes t out of the queue and reports whether it was still there.
func (q *turns) leave(t *turn) bool {
	if !q.withdrawn(t) {
		return false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.remove(t) >= 0
}

// withdrawn reports whether t, which waits, will not be evaluated any more.
func (q *turns) withdrawn(t *turn) bool {
	q.mu.Lock()
	sent := t.lane != nil
	q.mu.Unlock()
	return !sent || t.ahead.withdraw()
}

// remove returns the place that t had in the queue, or -1.
func (q *turns) remove(t *turn) int {
	i := slices.Index(q.waiting, t)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
		q.advance()
	}
	return i
}

// giveUp is leave with a description of what t waits for; nil if t goes on to
// wait, or has the turn after all.
func (q *turns) giveUp(t *turn) *BusyError {
	busy := q.busy(t)
	if busy == nil {
		return nil
	}
	if !q.withdrawn(t) {
		t.late = busy
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.remove(t) < 0 {
		return nil
	}
	return busy
}

// busy describes what t waits for; nil if it has the turn.
func (q *turns) busy(t *turn) *BusyError {
	q.mu.Lock()
	defer q.mu.Unlock()
	ahead := slices.Index(q.waiting, t)
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
		q.advance()
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
