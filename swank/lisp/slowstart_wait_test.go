package lisp

import (
	"testing"
	"testing/synctest"
	"time"
)

// A call waits for an image of ours that is about to come, whatever its own time limit: a start
// ends by itself.
func TestSlowStartIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		im := New(Config{})
		im.start = &start{done: make(chan struct{}), inst: &instance{}}
		go func(st *start) {
			time.Sleep(time.Hour)
			close(st.done)
		}(im.start)
		if inst, err := im.acquire(t.Context(), 5*time.Second); inst != im.start.inst || err != nil {
			t.Errorf("answered %v, %v", inst, err)
		}
	})
}
