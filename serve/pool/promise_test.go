package pool

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// What is handed out is promised before the pool can close it, and nothing else is.
func TestPromise(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &factory{}
		var promised atomic.Pointer[thing]
		p := New(Options[string, *thing]{Size: 1, Start: f.start, Promise: func(item *thing) {
			if !item.Alive() {
				t.Error("closed before it is promised")
			}
			promised.Store(item)
		}})
		for range 3 {
			if err := p.add(context.Background(), "a"); err != nil {
				t.Fatal(err)
			}
			if _, item, ok := p.Hold("a"); !ok || promised.Load() != item {
				t.Errorf("%v is held, and %v promised", item, promised.Load())
			}
		}
		last := promised.Load()
		if err := p.add(context.Background(), "a"); err != nil {
			t.Fatal(err)
		}
		if _, ok := p.Take("a"); !ok || promised.Load() != last {
			t.Error("what is taken needs no promise")
		}
	})
}
