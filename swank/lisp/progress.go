package lisp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"swank-mcp/swank/lisp/helper"
)

const (
	progressEvery = 200 * time.Millisecond // at most this often
	signOfLife    = 5 * time.Second        // at least this often
	pausedEvery   = time.Second            // how often a job that waits looks whether it is paused
	progressChars = 4000                   // of each stream, the newest
)

// tellProgress calls f with what the job prints while it runs, from a goroutine that
// ends, and is waited for, in the function returned.
func (im *Image) tellProgress(job int64, f func(elapsed time.Duration, output string)) (end func()) {
	s := im.events.subscribe(int(signOfLife/progressEvery), true, job)
	var over atomic.Bool
	var wg sync.WaitGroup
	wg.Go(func() {
		began, told := time.Now(), time.Time{}
		look := time.NewTicker(pausedEvery) // until it begins
		defer look.Stop()
		for {
			select {
			case ev, open := <-s.C:
				switch {
				case !open:
					return
				case ev.Kind == EventBegun:
					look.Stop()
				case ev.Kind == EventOutput && !over.Load():
					f(ev.Elapsed, ev.Output)
				}
			case <-look.C:
				if im.Paused() && time.Since(told) >= signOfLife && !over.Load() {
					told = time.Now()
					f(time.Since(began), PausedText)
				}
			}
		}
	})
	return func() {
		over.Store(true)
		s.Close()
		wg.Wait()
	}
}

// watch publishes the evaluation's output while it runs and somebody wants that, from a
// goroutine that ends, and is waited for, in the function returned. It pulls: an evaluation
// that ends at once costs nothing, and the image never waits for a reader.
func (e *evaluation) watch() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	began := time.Now()
	first := time.AfterFunc(progressEvery, func() {
		defer close(done)
		e.tellOutput(ctx, began)
	})
	return func() {
		cancel()
		if !first.Stop() {
			<-done
		}
	}
}

// tellOutput publishes the output of the evaluation, which began then, until ctx ends.
func (e *evaluation) tellOutput(ctx context.Context, began time.Time) {
	told := began
	var at wirePeek
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if e.im.events.wantOutput(e.job.number) {
			// An image that is busy or gone tells nothing; the evaluation itself will.
			text, err := e.peek(ctx, &at)
			if err == nil && (text != "" || time.Since(told) >= signOfLife-progressEvery) {
				told = time.Now()
				e.s.tell(e.job, Event{Kind: EventOutput, Elapsed: time.Since(e.job.turn), Output: text, Printed: at.OutPos + at.ErrPos})
			}
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// peek returns what was printed since at, and moves at.
func (e *evaluation) peek(ctx context.Context, at *wirePeek) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, signOfLife)
	defer cancel()
	answer, err := e.inst.ask(ctx, helper.NewCall("PEEK-OUTPUT").
		Num(e.token).Num(at.OutPos).Num(at.ErrPos).Num(progressChars))
	if err != nil {
		return "", err
	}
	var p *wirePeek
	if err := helper.Decode(answer, &p); err != nil || p == nil {
		return "", err
	}
	*at = *p
	return p.Out + p.Err, nil
}
