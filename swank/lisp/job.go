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
// [Image.alone].
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
// nothing leaves it as it is. Result and error are those of [Session.Evaluate].
func (s *Session) do(ctx context.Context, r Request, j job, report any) (*Result, error) {
	j.number = s.im.jobs.Add(1)
	if r.Progress != nil {
		defer s.im.tellProgress(j.number, r.Progress)()
	}
	res, err := s.inTurn(ctx, &j, r.Timeout, func() (*Result, error) {
		return s.perform(ctx, r, j)
	})
	if err != nil || report == nil || len(res.report) == 0 {
		return res, err
	}
	return res, helper.Decode(string(res.report), report)
}

// alone does work that needs the turn of the session, which comes into being by being
// named, and not its thread. It waits for the turn as long as limit says. The error is
// that of work, a *BusyError or the cause of ctx.
func (s *Session) alone(ctx context.Context, title string, limit time.Duration, work func() error) error {
	_, err := s.inTurn(ctx, &job{title: title, number: s.im.jobs.Add(1)}, limit, func() (*Result, error) {
		return nil, work()
	})
	return err
}

// inTurn does the work of j when its turn has come, and tells those who want to know.
func (s *Session) inTurn(ctx context.Context, j *job, limit time.Duration, work func() (*Result, error)) (*Result, error) {
	title := firstLine(j.title, 80)
	tell := func(ev Event) {
		ev.Session, ev.Job, ev.Text = s.name, j.number, title
		s.im.events.publish(ev)
	}
	t := s.place(ctx)
	s.describe(t, title, limit)
	tell(Event{Kind: EventQueued})
	if err := s.wait(ctx, t); err != nil {
		tell(Event{Kind: EventEnded, Err: err})
		return nil, err
	}
	begun := time.Now()
	tell(Event{Kind: EventBegun})
	res, err := func() (*Result, error) {
		defer s.done()
		s.catchUp()
		return work()
	}()
	end := Event{Kind: EventEnded, Elapsed: time.Since(begun), Result: res, Err: err}
	if res != nil && res.Suspended != nil {
		end.Kind = EventSuspended
	}
	tell(end)
	return res, err
}

// perform does the job for the holder of the turn.
func (s *Session) perform(ctx context.Context, r Request, j job) (*Result, error) {
	of, err := s.debugged(j.about)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		res, err := s.attempt(ctx, r, j, of)
		// Nothing has been evaluated: the image or the thread was gone before.
		if errors.Is(err, errNotBegun) && attempt < 3 {
			continue
		}
		return res, err
	}
}

// attempt does the job once; of is the suspended evaluation that it is about, or nil.
func (s *Session) attempt(ctx context.Context, r Request, j job, of *suspended) (*Result, error) {
	l, err := s.prepare(ctx, r.Timeout)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e := s.newEvaluation(l, r, j)
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
