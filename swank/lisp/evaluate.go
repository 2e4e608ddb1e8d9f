package lisp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// What the helper's EVALUATE takes for an argument left out.
const (
	defaultSession = "default"
	defaultDebug   = 1
)

// evaluation is one attempt at a job, on its way through the image. It belongs to the
// goroutine of its caller.
type evaluation struct {
	im     *Image
	thread *sessionThread
	inst   *instance // the thread's
	s      *Session
	r      Request
	job    *job
	token  int64
	call   *swank.Call // once it is sent; written with im.mu held
	hears  *ears       // from before it is sent
	target *suspended  // the evaluation that job.about names, or nil

	why      atomic.Pointer[string] // that a limit ends it; nil: none does
	number   int                    // of one that goes on in the background, or 0
	jobEnded func()                 // tells the image's owner that it has ended as a job; nil where that is not counted
	left     bool                   // it has left the session for the background: what is the turn's is not to be touched
}

// Evaluate evaluates r.Code in the named session, which comes into being by
// being named. Evaluations of one session go one at a time in order of
// arrival. A Lisp error, a timeout and the death of the image are results
// with a Failure. The error is a *BusyError, a *StartError, ErrTooLarge,
// ErrClosed or the cause of ctx; when ctx ends, the evaluation is stopped before
// Evaluate returns.
//
// With r.Background, and with r.OnTimeout instead of being stopped, the evaluation goes on
// as the [Job] that the Result names.
//
// It is swank:eval-and-grab-output of a call of the helper's EVALUATE.
func (s *Session) Evaluate(ctx context.Context, r Request) (*Result, error) {
	call := helper.NewCall("EVALUATE").Str(r.Code).Opt("INPUT", r.Input)
	if r.Background {
		call.Key("JOB").Yes()
	}
	if r.Timed {
		call.Key("TIMEDP").Yes()
	}
	return s.do(ctx, r, job{title: r.Code, call: call}, nil)
}

// LoadSystem loads an ASDF system, by its name or by the path of its definition, with
// force even if it is loaded and up to date. What it defines counts as defined by the
// system. Result and error are those of [Session.Evaluate].
func (s *Session) LoadSystem(ctx context.Context, system string, force bool, r Request) (*Result, error) {
	s.im.lookAtProject(ctx)
	shown := system
	if strings.HasSuffix(strings.ToLower(shown), ".asd") {
		shown = system[strings.LastIndexByte(system, '/')+1 : len(system)-len(".asd")]
	}
	c := helper.NewCall("LOAD-SYSTEM").Str(system)
	if force {
		c.Key("FORCE").Yes()
	}
	res, err := s.do(ctx, r, job{title: system, code: "load-system " + shown, call: c}, nil)
	if err == nil && res.Failure == nil {
		s.wantCore(freshUse{Systems: []string{system}})
	}
	return res, err
}

func (s *Session) newEvaluation(thread *sessionThread, r Request, j *job) *evaluation {
	return &evaluation{im: s.im, thread: thread, inst: thread.inst, s: s, r: r, job: j, token: s.im.token.Add(1)}
}

// errNotBegun is the end of an evaluation of which the image has seen nothing.
var errNotBegun = errors.New("lisp: the image cannot be reached")

// prepare finds the image and the thread for a job of s, which is there then with all
// that it has defined; limit is the job's.
func (s *Session) prepare(ctx context.Context, limit time.Duration) (*sessionThread, error) {
	for attempt := 1; ; attempt++ {
		inst, err := s.im.acquire(ctx, limit)
		if err != nil {
			return nil, err
		}
		bounded, cancel := inst.withinReach(ctx, connectTimeout)
		thread, err := inst.sessionThread(bounded, s.name)
		cancel()
		if err != nil {
			err = inst.queryError(ctx, err)
		} else {
			err = s.moveTo(ctx, thread)
		}
		if err == nil {
			return thread, nil
		}
		if errors.Is(err, errImageSpent) && ctx.Err() == nil {
			attempt-- // each costs the journal an entry: it is no failure of the image
			continue
		}
		var slow *UnansweredError
		if ctx.Err() != nil || attempt == 3 || errors.As(err, &slow) {
			return nil, err
		}
		if errors.Is(err, context.DeadlineExceeded) && !inst.over() {
			inst.kill("it did not start a thread for the session")
		}
	}
}

// addNotes moves the pending notes of the session into its result.
func (e *evaluation) addNotes(res *Result) {
	if e.r.person {
		e.notePerson(res)
		return
	}
	e.s.noteGivenUp()
	e.s.hear()
	e.s.tellJobs()
	res.Notes = append(res.Notes, e.s.notes...)
	res.Notes = append(res.Notes, e.im.disk.hear()...)
	e.s.notes = nil
}

// send sends the evaluation to its Lisp thread.
func (e *evaluation) send() error {
	var form *helper.Call
	if e.job.whole != nil {
		form = e.job.whole(e)
	} else {
		form = e.options(e.job.call.Clone())
	}
	by := fmt.Sprint(e.job.client, "\x00", e.job.of, "\x00", e.job.tool, "\x00", e.r.person)
	if e.thread.by != by && e.job.number != 0 {
		form = form.By(e.r.person, e.s.name, named(e.job.client, e.job.of), cmp.Or(e.job.tool, "evaluate-lisp"))
	}
	if e.inst.single {
		form = form.Within(e.r.Timeout, e.token)
	}
	e.im.expect(e)
	call, err := form.Send(e.inst.conn, e.thread.id)
	if err != nil {
		e.im.forget(e)
		if e.inst.over() {
			return errNotBegun
		}
		return sendError(err)
	}
	if e.job.number != 0 {
		e.thread.by = by
	}
	if e.r.Background { // its thread has told the image for whom the session's calls are now
		e.inst.mu.Lock()
		if t := e.inst.threads[e.s.name]; t != nil {
			t.by = ""
		}
		e.inst.mu.Unlock()
	}
	e.inst.used.Store(true)
	e.im.mu.Lock()
	e.call = call
	e.im.mu.Unlock()
	return nil
}

// run sees the evaluation, which has been sent, through to its end.
func (e *evaluation) run(ctx context.Context) (*Result, error) {
	call, hears := e.call, e.hears
	defer func() {
		if !e.left {
			e.im.forget(e)
		}
	}()
	if e.r.Background {
		if d := call.Debug(); d != nil { // before its call was known
			select {
			case hears.debug <- d:
			default:
			}
		}
		if res := e.leave(hears); res != nil {
			return res, nil
		}
	}
	if d := call.Debug(); d != nil {
		return e.debugger(call, d)
	}
	if e.job.number != 0 && e.im.events.wanted() {
		end := e.watch()
		defer end()
	}
	s := newStopper(e, e.r.Timeout)
	defer s.release()
	var look <-chan time.Time
	if e.job.hopeless != nil {
		t := time.NewTicker(25 * time.Millisecond)
		defer t.Stop()
		look = t.C
	}
	gone := ctx.Done()
	for {
		select {
		case <-look:
			if why := e.job.hopeless(); why != "" && !e.inst.killed.Load() {
				e.inst.kill(why)
			}
		case <-call.Done():
			return e.finish(ctx, call)
		case d := <-hears.debug:
			return e.debugger(call, d)
		case how := <-hears.stop:
			s.stopped(how)
		case <-s.over:
			s.late()
		case <-gone:
			gone = nil
			if e.r.OnTimeout {
				if res := e.leave(hears); res != nil {
					e.s.notes = append(e.s.notes, fmt.Sprintf("The evaluation whose caller has gone (%s) goes on as job-%d.", firstLine(e.job.title, 80), res.Job))
					return res, context.Cause(ctx)
				}
			}
			s.stop(KindCancelled)
		case <-s.timer.C:
			if e.r.OnTimeout && s.requests == 0 {
				if res := e.leave(hears); res != nil {
					return res, nil
				}
			}
			if end := s.next(); end != nil {
				return end, context.Cause(ctx)
			}
		}
	}
}

// errNoAnswer is about an answer without what each has. One that lacks everything
// would read like an evaluation without values.
var errNoAnswer = errors.New("its answer to an evaluation has neither a package nor an error in it")

// finish makes the result of a call that has been answered.
func (e *evaluation) finish(ctx context.Context, call *swank.Call) (*Result, error) {
	var g swank.Grabbed
	err := call.Wait(context.Background(), &g)
	var abort *swank.AbortError
	var noThread *swank.InvalidRPCError
	var conn *swank.ConnError
	switch {
	case err == nil:
	case errors.As(err, &abort):
		if e.noteFault() {
			return e.broken(err), nil
		}
		return e.abandoned("The evaluation was left by a way that skips its end: " + abort.Reason), nil
	case errors.As(err, &noThread):
		if e.thread.forget() {
			e.s.notes = append(e.s.notes, newThreadNote)
		}
		return nil, errNotBegun
	case errors.As(err, &conn), errors.Is(err, swank.ErrClosed):
		return e.died(), nil
	default:
		return e.broken(err), nil
	}
	var a wireAnswer
	if err := helper.Decode(g.Output, &a); err != nil {
		if e.noteFault() {
			return e.broken(err), nil
		}
		return e.misunderstood(err), nil
	}
	if a.Absent == ":paused" {
		return nil, errPaused
	}
	if a.Absent != "" {
		return nil, e.gone(ctx, string(a.Absent))
	}
	if a.Error == nil && a.Package == nil {
		return e.broken(errNoAnswer), nil
	}
	e.inst.clearFaults()
	e.remember(&a)
	res := a.result()
	e.suspension(&a, res)
	if ctx.Err() != nil {
		// Only events tell of the result; the background output stays for others.
		e.drop(&a, res)
		return res, context.Cause(ctx)
	}
	e.inst.proc.Settle()
	res.Background = e.inst.proc.Background()
	return res, nil
}

// debugger gets the evaluation out of Swank's debugger, which it can only be
// in if something around the helper went wrong, and reports what that was.
func (e *evaluation) debugger(call *swank.Call, d *swank.Debug) (*Result, error) {
	ctx, cancel := e.inst.withinReach(context.Background(), 2*stopGrace)
	defer cancel()
	e.inst.conn.ThrowToToplevel(ctx, d.Thread)
	call.Wait(ctx, nil)
	if e.inst.attached() && strings.Contains(d.Condition.Message, "SWANK-MCP does not exist") {
		return e.helperless(), nil
	}
	if e.noteFault() {
		return e.broken(fmt.Errorf("%s: %s", d.Condition.Type, d.Condition.Message)), nil
	}
	res := e.abandoned(d.Condition.Message)
	res.Failure.Type = d.Condition.Type
	for _, f := range d.Frames {
		res.Failure.Frames = append(res.Failure.Frames, f.Text)
	}
	return res, nil
}

const newThreadNote = "The session goes on in a new Lisp thread, because the one before has ended; definitions and variables are as they were."

// typeReplaced is the Failure.Type of an evaluation that cost the image.
const typeReplaced = "IMAGE-REPLACED"

// abandoned is the result of an evaluation whose thread is not to be trusted
// any more; the session goes on in a new one.
func (e *evaluation) abandoned(message string) *Result {
	e.thread.forget()
	return &Result{
		Failure: &Failure{Kind: KindError, Type: "ABORTED", Message: message},
		Notes:   []string{newThreadNote},
	}
}

// died is the result of an evaluation whose image ended under it.
func (e *evaluation) died() *Result {
	if e.inst.attached() {
		return e.lost()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "The Lisp image ended during this evaluation: %s.", e.inst.epitaph())
	if text := e.inst.proc.LastErrors(); text != "" {
		fmt.Fprintf(&b, "\nIts last error output:\n%s", text)
	}
	if !e.im.cfg.once {
		b.WriteString("\nA new image takes its place and the next call works in it. " + e.kept() + e.s.suspended.lost(e.inst))
	}
	out, err := e.inst.proc.Flushed(e.token)
	return &Result{
		Stdout:     Text{Head: out},
		Stderr:     Text{Head: err},
		Failure:    &Failure{Kind: KindImageDied, Type: "IMAGE-DIED", Message: b.String()},
		Background: e.inst.proc.Background(),
	}
}

// kept says what of the session the next image will have.
func (e *evaluation) kept() string {
	if e.left {
		return ""
	}
	if c := e.im.timeline.before(e.im.timeline.now()); c != nil {
		return fmt.Sprintf("It is as this one was at %s, with all values; what was defined since is evaluated again.", c.taken.Format(time.TimeOnly))
	}
	if core := e.im.disk.goneOnFrom(); core != nil && e.inst.resumed && !e.im.cfg.NoRecovery {
		return fmt.Sprintf("It is as checkpoint %s on the disk was at %s, with all values; what was defined since is evaluated again.", core.Name, clock(core.Time))
	}
	if e.im.cfg.NoRecovery {
		return "It is empty (--no-recovery): definitions, variables, packages and loaded systems of the session are gone."
	}
	return e.s.journal.Kept()
}

// firstLine returns the beginning of code on one line, at most n characters.
func firstLine(code string, n int) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(code) { // no more of them than are wanted
		if b.Len() > 0 {
			if n--; n < 0 {
				return b.String() + "…"
			}
			b.WriteByte(' ')
		}
		for _, r := range word {
			if n--; n < 0 {
				return b.String() + "…"
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
