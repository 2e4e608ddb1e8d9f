package hub

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"time"
)

// startTurn limits the time for which a start holds up others: one that stands still holds up nobody
// after it.
const startTurn = 5 * time.Second

// startsAtOnce returns the number of images that may start at once: each takes a processor.
func startsAtOnce() int { return max(2, runtime.GOMAXPROCS(0)) }

// starts lets images start in turn by principals: who has many to start has others wait for one.
// The zero value is ready.
type starts struct {
	mu      sync.Mutex
	under   int            // way
	waiting []*startWait   // the first that came first
	last    map[string]int // the number of the last start of each principal
	count   int
}

type startWait struct {
	principal string
	turn      chan struct{} // closed when it may start
}

// begin waits until an image of the principal may start, and returns what is to be called when
// its start has ended. The error is the cause of ctx.
func (q *starts) begin(ctx context.Context, principal string) (ended func(), err error) {
	w := &startWait{principal, make(chan struct{})}
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	q.nextLocked()
	q.mu.Unlock()
	select {
	case <-w.turn:
	case <-ctx.Done():
		q.mu.Lock()
		i := slices.Index(q.waiting, w)
		if i >= 0 {
			q.waiting = slices.Delete(q.waiting, i, i+1)
		}
		q.mu.Unlock()
		if i < 0 { // it was let just then
			q.end()
		}
		return nil, context.Cause(ctx)
	}
	end := sync.OnceFunc(q.end)
	slow := time.AfterFunc(startTurn, end)
	return func() {
		slow.Stop()
		end()
	}, nil
}

func (q *starts) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.under--
	q.nextLocked()
}

// nextLocked lets those start for whom there is room: of the principal first whose last start is
// the longest ago.
func (q *starts) nextLocked() {
	for len(q.waiting) > 0 && q.under < startsAtOnce() {
		first := 0
		for i, w := range q.waiting {
			if q.last[w.principal] < q.last[q.waiting[first].principal] {
				first = i
			}
		}
		w := q.waiting[first]
		q.waiting = slices.Delete(q.waiting, first, first+1)
		if q.last == nil {
			q.last = map[string]int{}
		}
		q.count++
		q.last[w.principal] = q.count
		q.under++
		close(w.turn)
	}
}
