package lisp

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// errShared is the error of [workLock.lockUnlessShared] while others share the lock.
var errShared = errors.New("lisp: the lock is shared")

// A workLock is held by one alone, or shared by any number. It is for work that takes long:
// contexts end the waiting. Who waits gets it in the order of coming, so neither those who
// share it nor those who want it alone keep the others out. The zero value is a free lock.
//
// A holder who shares it must not share it a second time: somebody who wants it alone may
// wait in between.
type workLock struct {
	mu      sync.Mutex
	alone   bool // held by one
	sharing int  // how many share it
	queue   []*lockWait
}

// A lockWait is one that waits for a workLock.
type lockWait struct {
	alone    bool
	unshared bool       // refused while the lock is shared
	got      chan error // holds one value when the wait is over
}

// lock waits until the caller has l alone. The error is the cause of ctx.
func (l *workLock) lock(ctx context.Context) error {
	return l.wait(ctx, &lockWait{alone: true, got: make(chan error, 1)})
}

// lockUnlessShared is lock for what gives way: it waits for one that has l alone, but fails
// with errShared as soon as others share it.
func (l *workLock) lockUnlessShared(ctx context.Context) error {
	return l.wait(ctx, &lockWait{alone: true, unshared: true, got: make(chan error, 1)})
}

// share waits until the caller shares l. The error is the cause of ctx.
func (l *workLock) share(ctx context.Context) error {
	return l.wait(ctx, &lockWait{got: make(chan error, 1)})
}

// tryLock takes l alone, if nobody has it or waits for it, and reports whether it has.
func (l *workLock) tryLock() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alone || l.sharing > 0 || len(l.queue) > 0 {
		return false
	}
	l.alone = true
	return true
}

// tryShare shares l, if nobody has it alone or waits for it, and reports whether it does.
func (l *workLock) tryShare() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.alone || len(l.queue) > 0 {
		return false
	}
	l.sharing++
	return true
}

// unlock gives l back, which the caller has alone.
func (l *workLock) unlock() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.alone = false
	l.admit()
}

// unshare gives back the caller's share of l.
func (l *workLock) unshare() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sharing--
	l.admit()
}

// shared reports whether anybody shares l now.
func (l *workLock) shared() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sharing > 0
}

func (l *workLock) wait(ctx context.Context, w *lockWait) error {
	l.mu.Lock()
	l.queue = append(l.queue, w)
	l.admit()
	l.mu.Unlock()
	select {
	case err := <-w.got:
		return err
	default: // a lock that is free is had whatever ctx says
	}
	select {
	case err := <-w.got:
		return err
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case err := <-w.got: // just then
		return err
	default:
	}
	l.queue = slices.DeleteFunc(l.queue, func(other *lockWait) bool { return other == w })
	l.admit() // those behind it may share
	return context.Cause(ctx)
}

// admit lets those at the head of the queue have l who can. l.mu is held.
func (l *workLock) admit() {
	for len(l.queue) > 0 {
		w := l.queue[0]
		switch {
		case l.alone:
			return
		case w.alone && w.unshared && l.sharing > 0:
			w.got <- errShared
		case w.alone && l.sharing > 0:
			return
		default:
			l.alone = w.alone
			if !w.alone {
				l.sharing++
			}
			w.got <- nil
		}
		l.queue = l.queue[1:]
	}
}
