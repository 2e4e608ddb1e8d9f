package lisp

import (
	"cmp"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"swank-mcp/swank/lisp/helper"
)

// A job is work for the thread of a session: code, loading a system, compiling, a
// command of the debugger, bringing definitions back. It waits for its turn (queued),
// is sent to the thread (begun), may wait in the debugger (suspended), and ends with
// a [Result]. What needs the turn but not the thread, as saving, is work of
// [Session.alone].
type job struct {
	number int64                            // among all jobs; 0 for a part of another one
	client string                           // on whose behalf
	of     string                           // the client's version
	tool   string                           // for which tool
	pkg    string                           // that the code is read in; "" is the session's
	turn   time.Time                        // when it got its turn
	free   bool                             // it is for no client, or for a person, and a pause is not for it
	begun  bool                             // EventBegun was published
	sent   bool                             // the image may have begun with it
	title  string                           // what it is called in the error of those who wait
	code   string                           // what a person is shown of it; "": the title
	call   *helper.Call                     // what the thread evaluates, without options; nil: nothing, or what whole makes
	whole  func(e *evaluation) *helper.Call // makes the whole call, for each attempt; of the debugger and of bringing back
	back   bool                             // it brings back what the file has in which the session is kept
	tests  testRun                          // the tests that it runs, if it does

	about    *DebuggerCall     // the suspended evaluation that it is about, or nil
	learn    func(*wireAnswer) // takes in what was defined; nil: into the journal
	decoded  func(*Result)     // called when the report is decoded, before its end is published; may be nil
	hopeless func() string     // asked while it runs: why the image is to be given up, or ""; may be nil
}

// do does the job in turn with the others of the session, under the limits of r, and
// decodes what it reports into report, if that is not nil; a job without a
// report leaves it as it is. Result and error are those of [Session.Evaluate].
func (s *Session) do(ctx context.Context, r Request, j job, report any) (*Result, error) {
	j.number, j.pkg, j.free = s.im.jobs.Add(1), r.Package, r.person
	if r.Progress != nil {
		defer s.im.tellProgress(j.number, r.Progress)()
	}
	return s.inTurn(ctx, &j, r.Timeout, func() (res *Result, err error) {
		if r.Trial {
			res, err = s.try(ctx, r, &j)
		} else {
			res, err = s.perform(ctx, r, &j)
		}
		err = decodeReport(res, err, report)
		if err == nil && j.decoded != nil {
			j.decoded(res)
		}
		return res, err
	})
}

// decodeReport decodes into report what a job has reported, if that is not nil; err is how
// the job ended.
func decodeReport(res *Result, err error, report any) error {
	if err != nil || report == nil || len(res.report) == 0 {
		return err
	}
	return helper.Decode(string(res.report), report)
}

// reported does the job as do, and returns what it reports.
func reported[T any](ctx context.Context, s *Session, r Request, j job) (*T, *Result, error) {
	report := new(T)
	res, err := s.do(ctx, r, j, report)
	if err != nil {
		return nil, nil, err
	}
	return report, res, nil
}

// alone does work that needs the turn of the session, which comes into being by being
// named, and not its thread. It waits for the turn as long as limit says. The error is
// that of work, a *BusyError or the cause of ctx.
func (s *Session) alone(ctx context.Context, title string, limit time.Duration, work func() error) error {
	return s.workAlone(ctx, &job{title: title, number: s.im.jobs.Add(1)}, limit, work)
}

// aside is alone for what no client has asked for: it does not wait while a person has
// paused the calls.
func (s *Session) aside(ctx context.Context, title string, limit time.Duration, work func() error) error {
	return s.workAlone(ctx, &job{title: title, number: s.im.jobs.Add(1), free: true}, limit, work)
}

func (s *Session) workAlone(ctx context.Context, j *job, limit time.Duration, work func() error) error {
	_, err := s.inTurn(ctx, j, limit, func() (*Result, error) {
		if err := s.im.joinWork(ctx, limit); err != nil {
			return nil, err
		}
		defer s.im.working.unshare()
		s.begun(j)
		return nil, work()
	})
	return err
}

// inTurn does the work of j when its turn has come, and publishes the steps.
func (s *Session) inTurn(ctx context.Context, j *job, limit time.Duration, work func() (*Result, error)) (*Result, error) {
	if err := s.takeTurn(ctx, j, limit); err != nil {
		return nil, err
	}
	defer s.done()
	return s.carryOut(ctx, j, limit, work)
}

// takeTurn waits until j has the turn, which ends with done.
func (s *Session) takeTurn(ctx context.Context, j *job, limit time.Duration) error {
	if s.closed.Load() {
		return ErrClosed
	}
	j.client, _ = ctx.Value(clientKey{}).(string)
	j.of, _ = ctx.Value(versionKey{}).(string)
	j.tool, _ = ctx.Value(toolKey{}).(string)
	t := s.place(ctx, j.free)
	s.describe(t, firstLine(j.title, 80), limit)
	s.tell(j, Event{Kind: EventQueued})
	err := s.wait(ctx, t)
	if err != nil {
		s.tell(j, Event{Kind: EventEnded, Err: err})
	}
	return err
}

// carryOut does the work of j for the holder of the turn, and publishes that it ended.
func (s *Session) carryOut(ctx context.Context, j *job, limit time.Duration, work func() (*Result, error)) (*Result, error) {
	j.turn = time.Now()
	end := Event{Kind: EventEnded}
	left := false
	defer func() { // also if work panics: the next one begins after this one has ended
		end.Elapsed = time.Since(j.turn)
		if !left { // what goes on has not ended
			s.tell(j, end)
		}
	}()
	if err := s.im.joinWork(ctx, limit); err != nil { // a checkpoint has the journals of all sessions
		end.Err = err
		return nil, err
	}
	s.catchUp()
	s.im.working.unshare()
	res, err := work()
	end.Err = err
	left = res != nil && res.Job != 0
	if res != nil && s.im.events.wanted() {
		end.Outcome, end.Result = res.outcome(), res.bounded()
		if res.Suspended != nil || res.Waiting {
			end.Kind = EventSuspended
		}
	}
	return res, err
}

// tell publishes that ev has happened to j.
func (s *Session) tell(j *job, ev Event) {
	if s.im.events.wanted() {
		ev.Session, ev.Client, ev.Version, ev.Tool, ev.Job, ev.Text = s.name, j.client, j.of, j.tool, j.number, firstLine(j.title, 80)
		s.im.events.publish(ev)
	}
}

// shownCode is how many characters of the code are looked at for what is shown of it.
const shownCode = 10_000

// begun publishes, once, that j has begun.
func (s *Session) begun(j *job) {
	if j.begun || !s.im.events.wanted() {
		return
	}
	j.begun = true
	ev := Event{Kind: EventBegun}
	if j.call != nil {
		code := cmp.Or(j.code, j.title)
		x := excerpt(firstChars(code, shownCode))
		x.Chars = utf8.RuneCountInString(code)
		ev.Code, ev.Source, ev.Package = &x, cut(Text{Head: code}, eventCode), cmp.Or(j.pkg, s.journal.Package)
	}
	s.tell(j, ev)
}

// perform does the job for the holder of the turn.
func (s *Session) perform(ctx context.Context, r Request, j *job) (res *Result, err error) {
	if err := s.im.joinWork(ctx, r.Timeout); err != nil {
		return nil, err
	}
	defer s.im.working.unshare()
	defer func() {
		if j.sent {
			s.evaluated.Add(1)
			if err != nil || !res.looksOnly(j) {
				s.stepped(j, res)
			}
		}
	}()
	target, err := s.findTarget(ctx, j.about)
	if err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		res, err = s.attempt(ctx, r, j, target)
		// Nothing has been evaluated: the image or the thread was gone before.
		if errors.Is(err, errNotBegun) && attempt < 3 {
			continue
		}
		if errors.Is(err, errPaused) {
			if err := s.awaitResume(ctx); err != nil {
				return nil, err
			}
			attempt = 0
			continue
		}
		return res, err
	}
}

// looksOnly reports whether the job j, whose end res is, has surely changed nothing.
func (res *Result) looksOnly(j *job) bool {
	return res != nil && res.looked && j.about == nil && res.Suspended == nil && !res.Waiting && res.Job == 0
}

// stepped notes that the job may have changed the image, and tells in res, if that is not nil,
// what cannot be done again any more.
func (s *Session) stepped(j *job, res *Result) {
	if lost := s.im.timeline.step(s.name, j.title); len(lost) > 0 && res != nil {
		res.Notes = append(res.Notes, "What was undone cannot be done again any more: "+someTitles(lost)+".")
	}
}

// attempt does the job once; target is the suspended evaluation that it is about, or nil.
func (s *Session) attempt(ctx context.Context, r Request, j *job, target *suspended) (*Result, error) {
	thread, err := s.prepare(ctx, r.Timeout)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e := s.newEvaluation(thread, r, j)
	if r.Background {
		if refusal := e.enterBackground(); refusal != nil {
			refusal.Message = "Nothing was evaluated: " + refusal.Message
			return &Result{Failure: refusal}, nil
		}
		defer func() {
			if !e.left {
				e.leaveBackground()
			}
		}()
		if err := e.ownThread(ctx); err != nil {
			return nil, err
		}
	}
	if err := e.setTarget(target); err != nil {
		return nil, err
	}
	if res, err := e.checkListening(ctx); res != nil || err != nil {
		return res, err
	}
	if err := e.send(); err != nil {
		if r.Background {
			e.endThread()
		}
		return nil, err
	}
	j.sent = true
	s.begun(j)
	res, err := e.run(ctx)
	if err != nil && !errors.Is(err, errNotBegun) && !errors.Is(err, errPaused) {
		s.runs.noteCut(j.tests, KindCancelled.String())
	}
	e.limited(res)
	if err == nil {
		e.addNotes(res)
	}
	return res, err
}

// options adds to a call what each job has: the token by which it is stopped, its
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
