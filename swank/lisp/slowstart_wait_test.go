package lisp

import (
	"testing"
	"testing/synctest"
	"time"
)

// A call waits for an image that is about to come, whatever its own time limit: the
// start has one of its own.
func TestSlowStartIsWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		im := New(Config{})
		im.start = &start{done: make(chan struct{}), inst: &instance{}}
		go func(st *start) {
			time.Sleep(startLimit - time.Second)
			close(st.done)
		}(im.start)
		if inst, err := im.acquire(t.Context(), 5*time.Second); inst != im.start.inst || err != nil {
			t.Errorf("answered %v, %v", inst, err)
		}
	})
}
