package lisp

import (
	"context"
	"fmt"
	"time"

	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/host"
	"swank-mcp/swank/lisp/launch"
)

// patience tells how long an image could have done what it was asked for. Nothing is
// concluded from the time that has passed alone: an image that is stopped, or without a
// processor, has had none.
type patience struct {
	gauge *host.Gauge
	began time.Time
	had   time.Duration // of the time since then
}

// lookEvery is the interval at which a patience looks. It is no divisor of the intervals by
// which systems share out processors: else all looks could meet the same part of these.
const lookEvery = 37 * time.Millisecond

// answerLimit bounds the wait for an answer that an image gives beside evaluations, in time during
// which the image could act. Only a test changes it.
var answerLimit = 10 * time.Second

// stallLimit is how long a caller waits for an image that hardly runs.
var stallLimit = 24 * time.Second

// patience returns one that begins now.
func (inst *instance) patience() *patience {
	pid := 0
	switch p := inst.proc.(type) {
	case *launch.Process:
		pid = p.PID()
	case *attach.Guest:
		pid = p.Lisp.PID()
	}
	return &patience{gauge: host.NewGauge(pid), began: time.Now()}
}

// look returns what the image has had since the last look.
func (p *patience) look() time.Duration {
	had := p.gauge.Chance()
	p.had += had
	return had
}

// stalled reports whether the image has hardly run since p began, for as long as a caller
// waits for that.
func (p *patience) stalled() bool {
	passed := time.Since(p.began)
	return passed >= stallLimit && p.had < passed/4
}

// inWords says how much of the time the image has had, as part of a sentence.
func (p *patience) inWords(inst *instance) string {
	passed := time.Since(p.began)
	return fmt.Sprintf("in the last %.0f s its process (pid %d) was stopped, or without a processor or memory, for %.1f s",
		passed.Seconds(), inst.proc.PID(), (passed - p.had).Seconds())
}

// hardlyRuns says why p is stalled, as part of a sentence: of a person's image, what they can
// do about it.
func (inst *instance) hardlyRuns(p *patience) string {
	if g, attached := inst.proc.(*attach.Guest); attached {
		if why, certain := g.Lisp.Silence(); certain {
			return why
		}
	}
	return "it hardly runs: " + p.inWords(inst)
}

// withinReach returns a context that ends when inst could have used so much time, with the cause
// context.DeadlineExceeded, or when it hardly runs, with an *UnansweredError: a caller with a
// deadline of its own takes within. The function that ends it waits for its goroutine.
func (inst *instance) withinReach(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	bounded, end := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		look := time.NewTicker(lookEvery)
		defer look.Stop()
		began := time.Now()
		var p *patience // not before it is needed: most waits are short, and to look costs
		for {
			select {
			case <-bounded.Done():
				return
			case <-look.C:
			}
			if p == nil {
				p = inst.patience()
				p.began = began
			}
			switch p.look(); {
			case p.had >= limit:
				end(context.DeadlineExceeded)
			case p.stalled():
				end(&UnansweredError{KindTimeout, "The image does not answer, because " + inst.hardlyRuns(p) + ". Send the call again when it runs."})
			}
		}
	}()
	return bounded, func() {
		end(nil)
		<-ended
	}
}

// forAnswer is withinReach for a call that the image answers beside evaluations, and never
// behind one: only a wait for memory or the processor, or a lock of somebody's, delays it.
// Without an image the context ends with ctx alone.
func (inst *instance) forAnswer(ctx context.Context) (context.Context, context.CancelFunc) {
	if inst == nil {
		return context.WithCancel(ctx)
	}
	return inst.withinReach(ctx, answerLimit)
}
