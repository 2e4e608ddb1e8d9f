package lisp

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// holding lists who has had a lock, or was refused, in the order in which that came.
type holding struct {
	t     *testing.T
	lock  workLock
	mu    sync.Mutex
	order []string
}

// want waits for the lock in a goroutine of its own, under a name.
func (h *holding) want(name string, ctx context.Context, wait func(context.Context) error) {
	go func() {
		if err := wait(ctx); err != nil {
			name += ": " + err.Error()
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.order = append(h.order, name)
	}()
	synctest.Wait()
}

// had checks who has had the lock since it was last called, in any order.
func (h *holding) had(want ...string) {
	h.t.Helper()
	synctest.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.order)
	slices.Sort(want)
	if !slices.Equal(h.order, want) {
		h.t.Fatalf("the lock was had by %q, want %q", h.order, want)
	}
	h.order = nil
}

// Who wants the lock alone is not kept out by those who share it and overlap, and the other
// way round.
func TestWorkLockIsFair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{t: t}
		l, ctx := &h.lock, t.Context()
		h.want("a", ctx, l.share)
		h.want("b", ctx, l.share)
		h.had("a", "b")
		h.want("alone", ctx, l.lock)
		h.want("c", ctx, l.share)
		h.want("d", ctx, l.share)
		l.unshare()
		h.had()
		l.unshare()
		h.had("alone")
		h.want("alone 2", ctx, l.lock)
		l.unlock()
		h.had("c", "d")
		l.unshare()
		l.unshare()
		h.had("alone 2")
	})
}

// Who gives up waiting does not hold up those behind.
func TestWorkLockGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{t: t}
		l, ctx := &h.lock, t.Context()
		h.want("a", ctx, l.share)
		bounded, cancel := context.WithCancelCause(ctx)
		h.want("alone", bounded, l.lock)
		h.want("b", ctx, l.share)
		h.had("a")
		cancel(errors.New("enough"))
		h.had("alone: enough", "b")
		if l.tryLock() {
			t.Error("it is had alone while it is shared")
		}
		l.unshare()
		l.unshare()
		if !l.tryLock() {
			t.Error("it is not free when all have given it back")
		}
	})
}

// What gives way waits for one alone and for nobody who shares the lock.
func TestWorkLockGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &holding{t: t}
		l, ctx := &h.lock, t.Context()
		refused := ": " + errShared.Error()
		h.want("a", ctx, l.share)
		h.want("idle", ctx, l.lockUnlessShared)
		h.had("a", "idle"+refused)
		l.unshare()
		h.want("alone", ctx, l.lock)
		h.want("idle 1", ctx, l.lockUnlessShared)
		h.had("alone")
		l.unlock()
		h.had("idle 1")
		h.want("b", ctx, l.share)
		h.want("idle 2", ctx, l.lockUnlessShared)
		l.unlock()
		h.had("b", "idle 2"+refused)
	})
}
