package hub

import (
	"context"
	"sync"
	"testing"
	"time"

	"swank-mcp/serve/pool"
)

// waiting is a pool as a hub sees it: what there may be, it has at once.
type waiting struct {
	mu    sync.Mutex
	looks chan struct{}
	has   int
	over  bool
}

func (w *waiting) Fill(ctx context.Context, room func() int) {
	for ctx.Err() == nil {
		n := min(3, room())
		w.mu.Lock()
		w.has = n
		w.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-w.looks:
		case <-time.After(10 * time.Millisecond):
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

// Images that are started ahead have the room that sessions leave, and end with the hub.
func TestAheadHasTheRest(t *testing.T) {
	t.Parallel()
	w := &waiting{looks: make(chan struct{}, 1)}
	h := testHub(t, Options{Ahead: w, Limits: Limits{Images: 4}})
	has := func(want int) {
		t.Helper()
		for end := time.Now().Add(time.Minute); h.Ahead().Waiting != want; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%d wait, not %d", h.Ahead().Waiting, want)
			}
		}
	}
	for i, want := range []int{3, 3, 2, 1} {
		has(want)
		s, err := h.Named(t.Context(), "anna", string(rune('a'+i)))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Wake(t.Context()); err != nil {
			t.Fatalf("with %d images that nobody wants: %v", want, err)
		}
	}
	has(0)
	if !h.End("anna", "a") {
		t.Fatal("it is not there")
	}
	has(1)
	h.Close()
	if !w.over || h.Ahead().Waiting != 0 {
		t.Error("it is filled after the end of the hub")
	}
}
