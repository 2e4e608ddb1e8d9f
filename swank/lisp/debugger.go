package lisp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank/lisp/helper"
)

// DebuggerOp is something to do with a suspended evaluation.
type DebuggerOp string

// The operations of the debugger. All but EvalInFrame let the evaluation go
// on; what comes of that is the result.
const (
	EvalInFrame   DebuggerOp = "EVALUATE" // Code, with the variables of Frame
	InvokeRestart DebuggerOp = "RESTART"  // Restart, with a value for each form of Code
	ReturnFrom    DebuggerOp = "RETURN"   // from Frame, the values of Code's last form
	RestartFrame  DebuggerOp = "AGAIN"    // call Frame again
	StepInto      DebuggerOp = "INTO"
	StepNext      DebuggerOp = "NEXT"
	StepOut       DebuggerOp = "OUT"
	StepContinue  DebuggerOp = "CONTINUE"
	AbortIt       DebuggerOp = "ABORT"
)

// DebuggerCall is a request about a suspended evaluation.
type DebuggerCall struct {
	Op      DebuggerOp
	Number  int    // of the evaluation; 0 is the only one
	Frame   int    // number in its backtrace
	Restart string // number or name
	Anew    bool   // the evaluation has the time limit that it had at first, not the request's
}

// Debug does what c asks for with a suspended evaluation; r.Code is what c says. The
// Result is what came of the evaluation that goes on, or of the code in its frame. The
// error is a *DebuggerError if there is no such evaluation, or if it takes no commands;
// else Result and error are those of [Session.Evaluate].
func (s *Session) Debug(ctx context.Context, c DebuggerCall, r Request) (*Result, error) {
	tests := new(Tests)
	var run testRun
	res, err := s.do(ctx, r, job{title: c.title() + r.Code, about: &c, whole: func(e *evaluation) *helper.Call {
		run = e.target.tests
		return c.call(e, r.Code)
	}}, tests)
	if err == nil && len(res.report) > 0 {
		res.Tests = tests
		s.tested(run, tests, res)
	}
	return res, err
}

// title is the beginning of the job's title, before the code.
func (c *DebuggerCall) title() string {
	number := "the only suspended evaluation"
	if c.Number != 0 {
		number = fmt.Sprintf("evaluation %d", c.Number)
	}
	switch c.Op {
	case EvalInFrame:
		return fmt.Sprintf("in frame %d of %s: ", c.Frame, number)
	case InvokeRestart:
		return fmt.Sprintf("%s, from its restart %s on ", number, c.Restart)
	case AbortIt:
		return number + ", which is aborted "
	}
	return number + ", which goes on "
}

// findTarget returns the evaluation that c is about; nil for no c.
func (s *Session) findTarget(ctx context.Context, c *DebuggerCall) (*suspended, error) {
	if c == nil {
		return nil, nil
	}
	s.lookForThreads(ctx)
	return s.suspended.pick(c.Number)
}

// setTarget directs e at a suspended evaluation. What goes on there is stopped by its
// token, not by one of ours.
func (e *evaluation) setTarget(target *suspended) error {
	if target == nil {
		return nil
	}
	if target.inst != e.inst {
		_, err := e.s.suspended.pick(target.number)
		return err
	}
	e.target = target
	if e.job.about.Anew {
		e.r.Timeout = target.timeout
	}
	if e.job.about.Op != EvalInFrame {
		e.token = target.token
	}
	return nil
}

// call is the call of the helper; code is that of the request.
func (c *DebuggerCall) call(e *evaluation, code string) *helper.Call {
	if c.Op == EvalInFrame {
		e.r.Debug, e.r.Suspend = defaultDebug, false // of the evaluation that is suspended
		return e.options(helper.NewCall("EVALUATE-IN-FRAME").Str(code).Num(e.target.token).Num(int64(c.Frame)))
	}
	call := helper.NewCall("CONTINUE-SUSPENDED").Num(e.target.token).Key(string(c.Op))
	if c.Restart != "" {
		call.Key("NAME").Str(c.Restart)
	}
	if code != "" {
		call.Key("CODE").Str(code)
	}
	if c.Frame != 0 {
		call.Key("FRAME").Num(int64(c.Frame))
	}
	return call
}

// suspension notes what the answer says of suspended evaluations.
func (e *evaluation) suspension(a *wireAnswer, res *Result) {
	e.s.notes = append(e.s.notes, e.s.meet(e.inst, a.Threads)...)
	e.s.departed(a)
	if e.target != nil {
		res.Evaluation, res.Limit = e.target.number, e.r.Timeout
	}
	switch {
	case a.Suspended != nil:
		res.Suspended = e.s.suspended.suspend(e, a)
	case a.Parked:
		res.Waiting = true
	case e.target != nil:
		why := "it has come to its end"
		if e.target.isThread() {
			why = "it went on"
		}
		if res.Failure != nil {
			why = "it ended with " + res.Failure.Type
			if res.Failure.Kind != KindError {
				why = "it was stopped"
			}
		}
		e.s.suspended.end(e.target.token, why)
		e.s.background.amend(e.target.number, res, true)
	}
}

// result is what the evaluation ended with.
func (d *wireDeparted) result() *Result {
	if d.Type != "" {
		return &Result{Failure: &Failure{Type: d.Type, Message: d.Why}}
	}
	r := new(Result)
	for _, value := range d.Values {
		r.Values = append(r.Values, Text{Head: value})
	}
	return r
}

// departed notes the suspended evaluations of which a says that they have ended while no
// command ran.
func (s *Session) departed(a *wireAnswer) {
	for _, d := range a.Departed {
		ended := s.suspended.end(d.Token, cmp.Or(d.Why, "it was stopped"))
		if ended == nil {
			continue
		}
		if d.Why != "" { // without, a call that let it go on was cancelled
			s.notes = append(s.notes, fmt.Sprintf("The suspended evaluation %d (%s) has ended: %s", ended.number, ended.code, d.Why))
		}
		s.background.amend(ended.number, d.result(), false)
		s.endedAlone(ended, d.result())
	}
}

// endedAlone publishes that a suspended evaluation has ended with r, though no job let
// it go on.
func (s *Session) endedAlone(target *suspended, r *Result) {
	s.im.events.publish(Event{Kind: EventEnded, Session: s.name, Job: target.job, Text: target.code, Outcome: r.outcome()})
}

// gone is the error of a call about an evaluation that turns out to take no
// command; state says why. A call that was cancelled may itself have ended it.
func (e *evaluation) gone(ctx context.Context, state string) error {
	if ctx.Err() != nil && state == ":ended" {
		e.s.suspended.end(e.target.token, "it was stopped")
	}
	return e.s.gone(e.target, state)
}

func (s *Session) gone(target *suspended, state string) error {
	switch state {
	case ":running":
		return &DebuggerError{Number: target.number, Occupied: true, Why: "it is running; session-status shows where"}
	case ":busy":
		return &DebuggerError{Number: target.number, Occupied: true, Why: "another call is busy with it"}
	case ":shown":
		return &DebuggerError{Number: target.number, Occupied: true,
			Why: "it is the person's, who is in their debugger with it: get-backtrace and inspect-frame look at it, nothing else can be done with it"}
	case ":person":
		return &DebuggerError{Number: target.number, Occupied: true,
			Why: "the person is in the debugger with it. When it has ended, the next reply tells how"}
	case ":held":
		return &DebuggerError{Number: target.number, Occupied: true,
			Why: "somebody, a person in SLDB for one, has its thread in a debugger of their own, until they leave that. Nothing was done, and nothing is lost"}
	}
	s.suspended.endSilently(target)
	_, err := s.suspended.pick(target.number)
	return err
}

// drop ends an evaluation that was suspended for a caller who has gone.
func (e *evaluation) drop(a *wireAnswer, res *Result) {
	if a.Suspended == nil || e.target != nil {
		return // of an older one the number is known
	}
	e.s.suspended.end(e.token, "its caller had gone")
	res.Suspended, res.Failure = nil, &Failure{Kind: KindCancelled}
	c := helper.NewCall("STOP-EVALUATION").Num(e.token).Key("CANCELLED")
	if e.s.name != defaultSession {
		c.Str(e.s.name)
	}
	// A connection that refuses this has failed, and the evaluation with it.
	_, _ = c.Send(e.inst.conn, e.inst.controlThread())
}

// Frame is a frame of a suspended evaluation.
type Frame struct {
	Number      int      `sexp:"-"` // of the evaluation
	Text        string   `sexp:"text"`
	Locals      []Local  `sexp:"locals"`
	Missing     []string `sexp:"missing"`     // variables that have no value where the frame is
	Tags        []string `sexp:"tags"`        // catch tags
	Source      string   `sexp:"source"`      // the form it is at
	File        string   `sexp:"file"`        // that the code came from
	Changed     bool     `sexp:"changed"`     // that file is another one by now
	Whole       bool     `sexp:"whole"`       // it keeps every variable already, as code compiled with DEBUG 3
	Restartable bool     `sexp:"restartable"` // it can be restarted and returned from
	Disassembly string   `sexp:"disassembly"`
	Failure     *Failure `sexp:"-"` // there is nothing of the above; this is why
}

// Local is a local variable and its printed value.
type Local struct {
	_           struct{} `sexp:",list"`
	Name, Value string
}

// InspectFrame looks at a frame of a suspended evaluation. Printing the values
// may run methods of the user's; it is stopped after some seconds. The error
// is a *DebuggerError if no such evaluation is suspended.
func (s *Session) InspectFrame(ctx context.Context, number, frame int, disassemble bool) (*Frame, error) {
	s.lookForThreads(ctx)
	target, err := s.suspended.pick(number)
	if err != nil {
		return nil, err
	}
	c := helper.NewCall("INSPECT-FRAME").Num(target.token).Num(int64(frame))
	if disassemble {
		c.Key("DISASSEMBLE").Yes()
	}
	var f Frame
	var w struct {
		Error  *wireError  `sexp:"error"`
		Absent sexp.Symbol `sexp:"absent"`
	}
	if err := s.im.queryRunning(ctx, c, &w, &f); err != nil {
		return nil, err
	}
	if w.Absent != "" {
		return nil, s.gone(target, string(w.Absent))
	}
	f.Number = target.number
	if w.Error != nil {
		f.Failure = w.Error.failure()
	}
	return &f, nil
}

// Backtrace is where an evaluation waits, or where the last error was.
type Backtrace struct {
	Number int           `sexp:"-"`      // of the suspended evaluation; 0: it was the last error
	Type   string        `sexp:"type"`   // of the condition, or how the evaluation was stopped: TIMEOUT, CANCELLED, STOPPED
	Frames []string      `sexp:"frames"` // innermost first, the first hundred
	More   int           `sexp:"more"`   // frames beyond those
	Age    time.Duration `sexp:"age"`    // since then, in whole microseconds
}

// Backtrace returns the frames of a suspended evaluation; for number 0 those of
// the only one, or else of the last error, nil if there was none.
func (s *Session) Backtrace(ctx context.Context, number int) (*Backtrace, error) {
	s.lookForThreads(ctx)
	c := helper.NewCall("BACKTRACE").Key("SESSION").Str(s.name)
	target, err := s.suspended.pick(number)
	switch {
	case err == nil:
		number = target.number
		c.Key("SUSPENDED").Num(target.token)
	case number != 0:
		return nil, err
	}
	var w *wireBacktrace
	var b Backtrace
	if err := s.im.queryRunning(ctx, c, &w, &b); err != nil || w == nil {
		return nil, err
	}
	if w.Absent != "" {
		return nil, s.gone(target, string(w.Absent))
	}
	b.Number = number
	b.complete(w.Kind)
	return &b, nil
}

// complete puts right what is decoded as the image has it.
func (b *Backtrace) complete(kind sexp.Symbol) {
	b.Age *= time.Microsecond
	if b.Type == "" {
		b.Type = strings.ToUpper(strings.TrimPrefix(string(kind), ":"))
	}
}

// LastError is what is known of the last error of a session.
type LastError struct {
	Backtrace `sexp:"-"`
	Message   string   `sexp:"message"`
	Code      string   `sexp:"code"`    // of its evaluation
	Classes   []string `sexp:"classes"` // of the condition, most specific first
	Slots     []Local  `sexp:"slots"`   // of the condition
}

// LastError returns what is known of the last error, timeout or stop in the
// session; nil if there was none.
func (s *Session) LastError(ctx context.Context) (*LastError, error) {
	s.lookForThreads(ctx)
	var w *wireBacktrace
	var last LastError
	if err := s.im.queryRunning(ctx, helper.NewCall("LAST-ERROR").Str(s.name), &w, &last, &last.Backtrace); err != nil || w == nil {
		return nil, err
	}
	last.complete(w.Kind)
	if s := s.suspended.find(w.Token); s != nil {
		last.Number = s.number
	}
	return &last, nil
}

// The shapes in which the helper's suspend.lisp, inspect-frame.lisp and
// last-error.lisp answer.
type (
	wireSuspended struct {
		Token    int64     `sexp:"token"`
		Stepping bool      `sexp:"stepping"`
		Restarts []Restart `sexp:"restarts"`
	}
	wireDeparted struct {
		_     struct{} `sexp:",list"`
		Token int64
		Why   string

		Type   string   // of the condition with which it ended, or ""
		Values []string // beginnings of the values with which it ended
	}
	wireAge struct {
		_     struct{} `sexp:",list"`
		Token int64
		Age   int64 // microseconds
	}
	wireBacktrace struct { // what a Backtrace has not
		Kind   sexp.Symbol `sexp:"kind"`
		Absent sexp.Symbol `sexp:"absent"`
		Token  int64       `sexp:"token"`
	}
)
