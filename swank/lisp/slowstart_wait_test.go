package lisp

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/swank/lisp/attach"
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

// A person's Lisp in which the helper is being loaded is waited for as long as it tells of that,
// and then as long as the call says.
func TestSlowLoadIsWaitedFor(t *testing.T) {
	t.Parallel()
	target, err := attach.ParseTarget("127.0.0.1:4005", false)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		im := New(Config{Attach: target})
		im.start = &start{done: make(chan struct{})}
		began := time.Now()
		go func() {
			for range 10 {
				time.Sleep(startPatience - time.Second)
				im.attaching.Hear()
			}
		}()
		var slow *StartError
		if _, err := im.acquire(t.Context(), 5*time.Second); !errors.As(err, &slow) {
			t.Errorf("answered %v", err)
		}
		if waited := time.Since(began); waited < 10*(startPatience-time.Second) || waited > 12*startPatience {
			t.Errorf("waited %v", waited)
		}
	})
}
