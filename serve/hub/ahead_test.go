package hub

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/serve/pool"
)

// waiting is a pool as a hub sees it: what there may be, it has when it has looked.
type waiting struct {
	mu    sync.Mutex
	looks chan struct{}
	has   int
	over  bool
}

// waitingLooks is how often a waiting looks by itself.
const waitingLooks = time.Second

func (w *waiting) Fill(ctx context.Context, room func() int) {
	for ctx.Err() == nil {
		n := min(3, room())
		w.mu.Lock()
		w.has = n
		w.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-w.looks:
		case <-time.After(waitingLooks):
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.has, w.over = 0, true
}

func (w *waiting) Look() {
	select {
	case w.looks <- struct{}{}:
	default:
	}
}

func (w *waiting) Counts() pool.Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	return pool.Counts{Waiting: w.has}
}

// Images that are started ahead have the room that sessions leave, and end with the hub. The
// pool looks for room as soon as a session takes some.
func TestAheadHasTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &waiting{looks: make(chan struct{}, 1)}
		h := testHub(t, Options{Ahead: w, Limits: Limits{Images: 4}})
		has := func(want int) {
			t.Helper()
			synctest.Wait()
			if got := h.Ahead().Waiting; got != want {
				t.Fatalf("%d wait, not %d", got, want)
			}
		}
		for i, want := range []int{3, 3, 2, 1} {
			has(want)
			if err := named(t, h, string(rune('a'+i))).Wake(t.Context()); err != nil {
				t.Fatalf("with %d images that nobody wants: %v", want, err)
			}
		}
		has(0)
		if !h.End("anna", "a") {
			t.Fatal("it is not there")
		}
		pass(waitingLooks)
		has(1)
		h.Close()
		if !w.over || h.Ahead().Waiting != 0 {
			t.Error("it is filled after the end of the hub")
		}
	})
}
