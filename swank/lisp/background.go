package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// An evaluation in the background runs on a Lisp thread of its own, beside those that
// its session carries out in turn. It begins as one, or its thread becomes its own when it
// has taken too long; then the session goes on in another thread. People know it as
// job-N. N is the number that it has as a suspended evaluation, too.

// JobLimit is how long an evaluation may run in the background.
const JobLimit = 4 * time.Hour

// maxJobs is how many evaluations of a session may run in the background at once, and of
// how many that have ended the results are kept.
const maxJobs = 16

// backgroundRun is one evaluation in the background. One goroutine, which the image owns,
// follows it to its end.
type backgroundRun struct {
	number int
	e      *evaluation
	code   string // its beginning, one line
	began  time.Time
	limit  time.Duration // from now on
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it has ended

	// These are there when it has ended. Its session's backgrounds guard them.
	took   time.Duration
	result *Result     // nil while it runs
	answer *wireAnswer // what it has defined, until the journal has it
	read   bool        // somebody has seen the result
}

// backgrounds are those of a session. Any goroutine may use them; the holder of the
// session's turn alone adds to them.
type backgrounds struct {
	mu    sync.Mutex
	all   []*backgroundRun // oldest first
	ended []*backgroundRun // of which the holder of the turn has not heard yet
}

// running returns those that have not ended.
func (q *backgrounds) running() (found []*backgroundRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.all {
		if b.result == nil {
			found = append(found, b)
		}
	}
	return found
}

func (q *backgrounds) add(b *backgroundRun) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, b)
}

// end notes what has come of b, and forgets the oldest result if there are too many.
func (q *backgrounds) end(b *backgroundRun, res *Result, a *wireAnswer) {
	q.mu.Lock()
	defer q.mu.Unlock()
	b.took, b.result, b.answer = time.Since(b.began), res, a
	q.ended = append(q.ended, b)
	over := func(b *backgroundRun) bool { return b.result != nil }
	kept := 0
	for _, other := range q.all {
		if over(other) {
			kept++
		}
	}
	if kept > maxJobs {
		oldest := slices.IndexFunc(q.all, over)
		q.all = slices.Delete(q.all, oldest, oldest+1)
	}
	close(b.done)
}

// take returns those that have ended since it was called last.
func (q *backgrounds) take() []*backgroundRun {
	q.mu.Lock()
	defer q.mu.Unlock()
	ended := q.ended
	q.ended = nil
	return ended
}

// amend replaces the result of the job of that number, which was suspended, with what has
// come of it since; read says that somebody is told that in any case.
func (q *backgrounds) amend(number int, res *Result, read bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, b := range q.all {
		if b.number == number && b.result != nil {
			amended := *res // the notes of a reply are added to res yet
			b.result, b.read = &amended, b.read || read
		}
	}
}

// noRoom says why an evaluation cannot go into the background; nil if it can.
func (e *evaluation) noRoom() *Failure {
	if e.inst.single {
		return &Failure{Type: "NO-THREADS", Message: "Swank in this image uses no threads, so nothing runs in it in the background."}
	}
	if running := e.s.background.running(); len(running) >= maxJobs {
		return &Failure{Type: typeTooManyJobs, Message: fmt.Sprintf("%d jobs run in this session, and no more may. "+
			"session-status lists them. To end the oldest: abort-evaluation {\"evaluation\": %d}", len(running), running[0].number)}
	}
	return nil
}

// typeTooManyJobs is the Failure.Type of an evaluation that may not go into the background.
const typeTooManyJobs = "TOO-MANY-JOBS"

// ownThread gives e, which is to run in the background, a thread and a number.
func (e *evaluation) ownThread(ctx context.Context) error {
	e.number = e.s.suspended.next()
	bounded, cancel := e.inst.withinReach(ctx, connectTimeout)
	defer cancel()
	id, err := e.inst.startThread(bounded, fmt.Sprintf("swank-mcp job-%d", e.number))
	if err != nil {
		return e.inst.queryError(ctx, err)
	}
	e.thread = &sessionThread{inst: e.inst, session: e.s.name, id: id}
	return nil
}

// endThread ends the Lisp thread of an evaluation in the background.
func (e *evaluation) endThread() {
	if !e.inst.over() { // else it has ended
		_, _ = helper.NewCall("RELEASE-THREAD").Num(int64(e.thread.id)).Send(e.inst.conn, e.inst.controlThread())
	}
}

// leave lets e, which has been sent, go on in the background and returns the result that
// says so; nil if it cannot. The holder of the turn calls it.
func (e *evaluation) leave(hears *ears) *Result {
	if e.number == 0 {
		if why := e.enterBackground(); why != nil {
			e.s.notes = append(e.s.notes, "It could not go on in the background: "+why.Message)
			return nil
		}
		e.number = e.s.suspended.next()
		// A connection that refuses this has failed, and the evaluation with it.
		_, _ = helper.NewCall("MAKE-JOB").Num(e.token).Send(e.inst.conn, e.inst.controlThread())
	}
	b := &backgroundRun{
		number: e.number, e: e, code: firstLine(e.r.Code, 80), began: e.job.turn, limit: e.r.JobLimit, done: make(chan struct{}),
	}
	ctx, cancel := context.WithCancelCause(e.im.ctx)
	b.cancel = cancel
	defer func() {
		if !e.left { // after im.mu was given back
			e.leaveBackground()
		}
	}()
	e.im.mu.Lock()
	defer e.im.mu.Unlock()
	if e.im.closed {
		cancel(ErrClosed)
		return nil
	}
	e.thread.forget()
	e.left = true
	e.s.background.add(b)
	e.im.work.Go(func() {
		defer cancel(nil)
		b.follow(ctx, hears)
	})
	e.s.tell(e.job, Event{Kind: EventLeft, Number: b.number})
	return &Result{Job: b.number, Limit: b.limit}
}

// follow sees b through to its end, which comes early with ctx.
func (b *backgroundRun) follow(ctx context.Context, hears *ears) {
	e := b.e
	defer e.im.forget(e)
	s := newStopper(e, b.limit)
	defer s.release()
	cancelled := ctx.Done()
	var res *Result
	var a *wireAnswer
	for res == nil {
		select {
		case <-e.call.Done():
			res, a = e.settled()
		case how := <-hears.stop:
			s.stopped(how)
		case d := <-hears.debug:
			bounded, cancel := e.inst.withinReach(ctx, stopGrace)
			e.inst.conn.ThrowToToplevel(bounded, d.Thread)
			cancel()
			res = failed("ANSWER-BROKEN", d.Condition.Type+": "+d.Condition.Message)
		case <-cancelled:
			if e.im.ctx.Err() != nil { // the image ends, and its connection
				res = failed("IMAGE-DIED", "The bridge has closed the image.")
				break
			}
			cancelled = nil
			s.stop(KindCancelled)
		case <-s.timer.C:
			res = s.next()
		}
	}
	e.limited(res)
	if f := res.Failure; f != nil && f.Kind == KindCancelled {
		f.Kind = KindError
		if f.Type == "" { // else it could not be stopped
			f.Type, f.Message = typeAborted, context.Cause(ctx).Error()+"."
		}
	}
	e.leaveBackground() // before its end is seen
	e.s.background.end(b, res, a)
	e.endThread()
	ev := Event{Kind: EventEnded, Elapsed: b.took, Outcome: res.outcome(), Result: res.bounded()}
	if res.Suspended != nil {
		ev.Kind = EventSuspended
	}
	e.s.tell(e.job, ev)
	if a != nil {
		e.s.keep(ctx)
	}
}

// typeAborted is the Failure.Type of a job that somebody has ended.
const typeAborted = "ABORTED"

func failed(kind, message string) *Result {
	return &Result{Failure: &Failure{Type: kind, Message: message}}
}

// settled is the result of an evaluation in the background that has been answered, and
// what the session has yet to learn from the answer, or nil.
func (e *evaluation) settled() (*Result, *wireAnswer) {
	var g swank.Grabbed
	a := new(wireAnswer)
	err := e.call.Wait(context.Background(), &g)
	if err == nil {
		err = helper.Decode(g.Output, a)
	}
	if err == nil && a.Absent == ":paused" {
		return failed("PAUSED", "Nothing was evaluated: the person had just paused the image. Send it again."), nil
	}
	if err == nil && a.Error == nil && a.Package == nil {
		err = errNoAnswer
	}
	var conn *swank.ConnError
	switch {
	case errors.As(err, &conn), errors.Is(err, swank.ErrClosed):
		res := failed("IMAGE-DIED", fmt.Sprintf("The job was lost with %s: %s.", e.inst.whatEnds(), e.inst.epitaph()))
		res.Failure.Kind = KindImageDied
		return res, nil
	case err != nil:
		return failed("ANSWER-BROKEN", fmt.Sprintf("What the image answers is not understood: %v.", err)), nil
	}
	res := a.result()
	if w := a.Suspended; w != nil {
		res.Suspended = e.s.suspended.suspend(e, a)
	}
	a.Package = nil // of the session, as it was then
	return res, a
}

// hear learns of evaluations in the background that have ended: the journal gets what
// they have defined. The holder of the turn calls it.
func (s *Session) hear() {
	for _, b := range s.background.take() {
		if b.answer != nil && !b.e.inst.undone() {
			b.e.remember(b.answer)
			s.departed(b.answer)
		}
		b.answer = nil
		s.untold = append(s.untold, b)
	}
}

// tellJobs notes for the next result what has become of the jobs that have ended, unless
// that has been read. The holder of the turn calls it when that result is there: until
// then it may be read, or a suspended one go on.
func (s *Session) tellJobs() {
	for _, b := range s.untold {
		if !s.background.isRead(b) {
			s.notes = append(s.notes, fmt.Sprintf("job-%d (%s) %s. Next: read-output {\"handle\": \"job-%[1]d\"}", b.number, b.code, b.fate()))
		}
	}
	s.untold = nil
}

func (q *backgrounds) isRead(b *backgroundRun) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return b.read
}

// fate is what became of b, which has ended, as the end of a sentence.
func (b *backgroundRun) fate() string {
	switch f := b.result.Failure; {
	case f == nil && len(b.result.Values) == 0:
		return "has ended, without values"
	case f == nil:
		return "has ended: => " + firstLine(b.result.Values[0].Head, 80)
	case b.result.Suspended != nil && b.e.s.suspended.find(b.e.token) == nil:
		return fmt.Sprintf("was suspended at %s, and has been ended since", f.Type)
	case b.result.Suspended != nil:
		return fmt.Sprintf("is suspended, as evaluation %d, at %s", b.number, f.Type)
	case f.Kind == KindImageDied:
		return "was lost with " + b.e.inst.whatEnds()
	case f.Kind == KindTimeout:
		return "was stopped at its time limit"
	case f.Kind == KindStopped:
		return "was stopped by the person"
	case f.Type == typeAborted, f.Type == typeLimit:
		return "was ended: " + strings.TrimSuffix(f.Message, ".")
	}
	return "has ended with " + b.result.Failure.Type
}
