package lisp

import (
	"context"
	"errors"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// A job is work for the thread of a session: code, loading a system, compiling, a
// command of the debugger, bringing definitions back. It waits for its turn (queued),
// is sent to the thread (begun), may wait in the debugger (suspended), and ends with
// a [Result]. What needs the turn but not the thread, as saving, is work of
// [Image.inTurn] alone.
type job struct {
	number int64                            // among all jobs; 0 for a part of another one
	title  string                           // what others are told that wait for it
	call   func(e *evaluation) *helper.Call // what the thread evaluates, made anew for each attempt

	about    *DebuggerCall     // the suspended evaluation that it is about, or nil
	learn    func(*wireAnswer) // takes in what was defined; nil: into the journal
	hopeless func() string     // asked while it runs: why the image is to be given up, or ""; may be nil
}

// do does the job in turn with the others of the session, under the limits of r, and
// decodes what it reports into report, if that is not nil; a job that has come to
// nothing leaves it as it is. Result and error are those of [Image.Evaluate].
func (im *Image) do(ctx context.Context, name string, r Request, j job, report any) (res *Result, err error) {
	j.number = im.jobs.Add(1)
	if r.Progress != nil {
		defer im.tellProgress(j.number, r.Progress)()
	}
	t := &turn{job: j.number, code: firstLine(j.title, 80), limit: r.Timeout, queued: r.Queued}
	err = im.inTurn(ctx, name, t, func(s *session) error {
		t.result, err = im.perform(ctx, s, r, j)
		return err
	})
	res = t.result
	if err != nil || report == nil || len(res.report) == 0 {
		return res, err
	}
	return res, helper.Decode(string(res.report), report)
}

// inTurn does work of a session, which comes into being by being named, when t has
// its turn. The error is that of work, a *BusyError or the cause of ctx.
func (im *Image) inTurn(ctx context.Context, name string, t *turn, work func(*session) error) error {
	s := im.session(name)
	if t.job == 0 {
		t.job = im.jobs.Add(1)
	}
	tell := func(ev Event) {
		ev.Session, ev.Job, ev.Text = name, t.job, t.code
		im.events.publish(ev)
	}
	tell(Event{Kind: EventQueued})
	if err := s.take(ctx, t); err != nil {
		tell(Event{Kind: EventEnded, Err: err})
		return err
	}
	begun := time.Now()
	tell(Event{Kind: EventBegun})
	s.catchUp()
	err := work(s)
	s.done()
	end := Event{Kind: EventEnded, Elapsed: time.Since(begun), Result: t.result, Err: err}
	if t.result != nil && t.result.Suspended != nil {
		end.Kind = EventSuspended
	}
	tell(end)
	return err
}

// perform does the job for the holder of the turn.
func (im *Image) perform(ctx context.Context, s *session, r Request, j job) (*Result, error) {
	of, err := s.debugged(j.about)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		res, err := im.attempt(ctx, s, r, j, of)
		// Nothing has been evaluated: the image or the thread was gone before.
		if errors.Is(err, errNotBegun) && attempt < 3 {
			continue
		}
		return res, err
	}
}

// attempt does the job once; of is the suspended evaluation that it is about, or nil.
func (im *Image) attempt(ctx context.Context, s *session, r Request, j job, of *suspended) (*Result, error) {
	l, err := im.prepare(ctx, s, r.Timeout)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e := im.newEvaluation(s, l, r, j)
	if err := e.aim(of); err != nil {
		return nil, err
	}
	if res, err := e.unheard(ctx); res != nil || err != nil {
		return res, err
	}
	if err := e.send(); err != nil {
		return nil, err
	}
	res, err := e.run(ctx)
	if err == nil {
		e.addNotes(res)
	}
	return res, err
}

// options adds to a call what every job is told: by which token it is stopped, its
// session, package, compilation quality and patience in the debugger.
func (e *evaluation) options(c *helper.Call) *helper.Call {
	c.Key("TOKEN").Num(e.token)
	if e.s.name != defaultSession {
		c.Key("SESSION").Str(e.s.name)
	}
	if e.r.Package != "" {
		c.Key("PACKAGE").Str(e.r.Package)
	}
	if e.r.Debug != defaultDebug {
		c.Key("DEBUG").Num(int64(e.r.Debug))
	}
	if e.r.Suspend {
		c.Key("PATIENCE").Num(e.im.cfg.SuspendLimit.Milliseconds())
	}
	return c
}
