package pool

import (
	"context"
	"errors"
	"slices"
	"time"
)

// lookTime is how often is looked for what has ended, and for room.
const lookTime = time.Second

// restTime is how long Fill waits after something was taken, or is about to be: who takes it
// comes first.
const restTime = 50 * time.Millisecond

// After a start that has failed the next one is tried later and later.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

// Fill starts what is missing, one after the other, and closes what there is no room for, as
// room says how many there may be, until ctx ends. Then it closes all that the pool has, and
// the pool stays empty.
func (p *Pool[K, V]) Fill(ctx context.Context, room func() int) {
	defer p.end()
	pause, trouble := time.Duration(0), time.Time{}
	for ctx.Err() == nil {
		err := p.bury()
		k, missing := p.missing()
		has, most := p.Len(), room()
		if has > most {
			p.giveUp()
			continue
		}
		if err == nil && missing && has < most {
			if err = p.add(ctx, k); err == nil {
				continue
			}
		}
		switch {
		case err != nil && ctx.Err() == nil:
			if time.Since(trouble) > 2*longestPause {
				pause = 0
			}
			pause, trouble = min(max(2*pause, firstPause), longestPause), time.Now()
			p.o.Log.Warn("starting images ahead", "err", err, "next try in", pause)
			wait(ctx, nil, pause)
		case wait(ctx, p.changed, lookTime):
			wait(ctx, nil, restTime)
		}
	}
}

// wait returns when the time is up, or early if ctx ends or there is a value, which it reports.
func wait(ctx context.Context, value <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-value:
		return true
	}
	return false
}

// missing is the kind that is to be started next, if there is one.
func (p *Pool[K, V]) missing() (k K, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.kinds {
		if p.freeLocked(k) < p.wantLocked(k) {
			return k, true
		}
	}
	return k, false
}

// wantLocked is how many there are to be of the kind: as many as of the others, and what is
// left is of those that were asked for last.
func (p *Pool[K, V]) wantLocked(k K) int {
	i := slices.Index(p.kinds, k)
	switch {
	case i < 0:
		return 0
	case i < p.o.Size%len(p.kinds):
		return p.o.Size/len(p.kinds) + 1
	}
	return p.o.Size / len(p.kinds)
}

func (p *Pool[K, V]) freeLocked(k K) (n int) {
	for _, e := range p.free {
		if e.kind == k {
			n++
		}
	}
	return n
}

// add starts one.
func (p *Pool[K, V]) add(ctx context.Context, k K) error {
	item, err := p.o.Start(ctx, k)
	p.mu.Lock()
	if err != nil {
		p.counts.Failed++
		p.mu.Unlock()
		return err
	}
	p.free = append(p.free, entry[K, V]{k, item})
	var over []V
	for len(p.free) > p.o.Size {
		i := slices.IndexFunc(p.free, func(e entry[K, V]) bool { return p.freeLocked(e.kind) > p.wantLocked(e.kind) })
		over = append(over, p.free[i].item)
		p.free = slices.Delete(p.free, i, i+1)
	}
	p.mu.Unlock()
	closeAll(over)
	return nil
}

func closeAll[V Item](items []V) {
	for _, item := range items {
		item.Close()
	}
}

// giveUp closes the oldest, one that is held before the others.
func (p *Pool[K, V]) giveUp() {
	p.mu.Lock()
	var oldest []V
	switch {
	case len(p.held) > 0:
		oldest = append(oldest, p.held[0].item)
		p.held = slices.Delete(p.held, 0, 1)
	case len(p.free) > 0:
		oldest = append(oldest, p.free[0].item)
		p.free = slices.Delete(p.free, 0, 1)
	}
	p.mu.Unlock()
	closeAll(oldest)
}

// errEnded is the error of what has ended in the pool.
var errEnded = errors.New("one has ended before anybody wanted it")

// bury closes those that have ended by themselves, which is an error.
func (p *Pool[K, V]) bury() error {
	p.mu.Lock()
	var dead []V
	p.free = slices.DeleteFunc(p.free, func(e entry[K, V]) bool {
		if e.item.Alive() {
			return false
		}
		dead = append(dead, e.item)
		return true
	})
	p.counts.Failed += len(dead)
	p.mu.Unlock()
	closeAll(dead)
	if len(dead) > 0 {
		return errEnded
	}
	return nil
}

// end closes all. What was handed over stays.
func (p *Pool[K, V]) end() {
	p.mu.Lock()
	var all []V
	for _, e := range p.free {
		all = append(all, e.item)
	}
	for _, h := range p.held {
		all = append(all, h.item)
	}
	p.free, p.held = nil, nil
	p.mu.Unlock()
	closeAll(all)
}
