package lisp

import (
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
	return s.do(ctx, r, job{title: c.title() + r.Code, about: &c, call: func(e *evaluation) *helper.Call {
		return c.call(e, r.Code)
	}}, nil)
}

// title is what others are told is running, before the code.
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

// debugged returns the evaluation that c is about; nil for no c.
func (s *Session) debugged(c *DebuggerCall) (*suspended, error) {
	if c == nil {
		return nil, nil
	}
	return s.suspended.pick(c.Number)
}

// aim directs e at a suspended evaluation. What goes on there is stopped by its
// token, not by one of ours.
func (e *evaluation) aim(of *suspended) error {
	if of == nil {
		return nil
	}
	if of.inst != e.inst {
		_, err := e.s.suspended.pick(of.number)
		return err
	}
	e.target = of
	if e.job.about.Anew {
		e.r.Timeout = of.timeout
	}
	if e.job.about.Op != EvalInFrame {
		e.token = of.token
	}
	return nil
}

// call is what the image is told to do; code is that of the request.
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
	for _, d := range a.Departed {
		if s := e.s.suspended.end(d.Token, d.Why); s != nil {
			e.s.notes = append(e.s.notes, fmt.Sprintf("The suspended evaluation %d (%s) has ended: %s", s.number, s.code, d.Why))
		}
	}
	if e.target != nil {
		res.Evaluation, res.Limit = e.target.number, e.r.Timeout
	}
	switch w := a.Suspended; {
	case w != nil:
		failure := ""
		if a.Error != nil {
			failure = a.Error.Type
		}
		s := e.s.suspended.add(e, failure)
		res.Suspended = &Suspension{Number: s.number, Step: w.Stepping, Limit: e.im.cfg.SuspendLimit, Restarts: w.Restarts}
	case a.Parked:
		res.Waiting = true
	case e.target != nil:
		why := "it has come to its end"
		if res.Failure != nil {
			why = "it ended with " + res.Failure.Type
			if res.Failure.Kind != KindError {
				why = "it was stopped"
			}
		}
		e.s.suspended.end(e.target.token, why)
	}
}

// gone is the error of a call about an evaluation that turns out to take no
// command; state says why.
func (e *evaluation) gone(state string) error {
	return e.s.gone(e.target, state)
}

func (s *Session) gone(of *suspended, state string) error {
	switch state {
	case ":running":
		return &DebuggerError{Number: of.number, Occupied: true, Why: "it is running; session-status shows where"}
	case ":busy":
		return &DebuggerError{Number: of.number, Occupied: true, Why: "another call is busy with it"}
	case ":held":
		return &DebuggerError{Number: of.number, Occupied: true,
			Why: "somebody, a person in SLDB for one, has its thread in a debugger of their own, until they leave that. Nothing was done, and nothing is lost"}
	}
	s.suspended.end(of.token, "it has ended")
	_, err := s.suspended.pick(of.number)
	return err
}

// drop ends an evaluation that was suspended for a caller who has gone.
func (e *evaluation) drop(a *wireAnswer) {
	if a.Suspended == nil || e.target != nil {
		return // of an older one the number is known
	}
	e.s.suspended.end(e.token, "its caller had gone")
	c := helper.NewCall("STOP-EVALUATION").Num(e.token).Key("CANCELLED")
	if e.s.name != defaultSession {
		c.Str(e.s.name)
	}
	// A connection that refuses this has failed, and the evaluation with it.
	_, _ = c.Send(e.inst.conn, e.inst.controlThread())
}

// Frame is a frame of a suspended evaluation.
type Frame struct {
	Number      int // of the evaluation
	Text        string
	Locals      []Local
	Missing     []string // variables that have no value where the frame is
	Tags        []string // catch tags
	Source      string   // the form it is at
	File        string   // that the code came from
	Changed     bool     // that file is another one by now
	Whole       bool     // it keeps every variable already, as code compiled with DEBUG 3
	Restartable bool     // it can be restarted and returned from
	Disassembly string
	Failure     *Failure // there is nothing of the above; this is why
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
	of, err := s.suspended.pick(number)
	if err != nil {
		return nil, err
	}
	c := helper.NewCall("INSPECT-FRAME").Num(of.token).Num(int64(frame))
	if disassemble {
		c.Key("DISASSEMBLE").Yes()
	}
	var w wireFrame
	if err := s.im.queryRunning(ctx, c, &w); err != nil {
		return nil, err
	}
	if w.Absent != "" {
		return nil, s.gone(of, string(w.Absent))
	}
	f := &Frame{
		Number: of.number, Text: w.Text, Locals: w.Locals, Missing: w.Missing, Tags: w.Tags, Source: w.Source, File: w.File, Changed: w.Changed, Whole: w.Whole,
		Restartable: w.Restartable, Disassembly: w.Disassembly,
	}
	if w.Error != nil {
		f.Failure = w.Error.failure()
	}
	return f, nil
}

// Backtrace is where an evaluation waits, or where the last error was.
type Backtrace struct {
	Number int           // of the suspended evaluation; 0: it was the last error
	Type   string        // of the condition
	Frames []string      // innermost first, the first hundred
	More   int           // frames beyond those
	Age    time.Duration // since then
}

// Backtrace returns the frames of a suspended evaluation; for number 0 those of
// the only one, or else of the last error, nil if there was none.
func (s *Session) Backtrace(ctx context.Context, number int) (*Backtrace, error) {
	c := helper.NewCall("BACKTRACE").Key("SESSION").Str(s.name)
	of, err := s.suspended.pick(number)
	switch {
	case err == nil:
		number = of.number
		c.Key("SUSPENDED").Num(of.token)
	case number != 0:
		return nil, err
	}
	var w *wireBacktrace
	if err := s.im.queryRunning(ctx, c, &w); err != nil || w == nil {
		return nil, err
	}
	if w.Absent != "" {
		return nil, s.gone(of, string(w.Absent))
	}
	return &Backtrace{
		Number: number, Type: kindName(w.Kind, w.Type), Frames: w.Frames, More: w.More,
		Age: time.Duration(w.Age) * time.Microsecond,
	}, nil
}

// LastError is what is known of the last error of a session.
type LastError struct {
	Backtrace
	Message string
	Code    string   // of its evaluation
	Classes []string // of the condition, most specific first
	Slots   []Local  // of the condition
}

// LastError returns what is known of the last error, timeout or stop in the
// session; nil if there was none.
func (s *Session) LastError(ctx context.Context) (*LastError, error) {
	var w *wireLastError
	if err := s.im.queryRunning(ctx, helper.NewCall("LAST-ERROR").Str(s.name), &w); err != nil || w == nil {
		return nil, err
	}
	last := &LastError{
		Backtrace: Backtrace{
			Type: kindName(w.Kind, w.Type), Frames: w.Frames, More: w.More, Age: time.Duration(w.Age) * time.Microsecond,
		},
		Message: w.Message, Code: w.Code, Classes: w.Classes, Slots: w.Slots,
	}
	if s := s.suspended.find(w.Token); s != nil {
		last.Number = s.number
	}
	return last, nil
}

// kindName is what an error is called: its type, or how it was stopped.
func kindName(kind sexp.Symbol, name string) string {
	if name == "" {
		return strings.ToUpper(strings.TrimPrefix(string(kind), ":"))
	}
	return name
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
	}
	wireAge struct {
		_     struct{} `sexp:",list"`
		Token int64
		Age   int64 // microseconds
	}
	wireFrame struct {
		Text        string      `sexp:"text"`
		Locals      []Local     `sexp:"locals"`
		Missing     []string    `sexp:"missing"`
		Tags        []string    `sexp:"tags"`
		Source      string      `sexp:"source"`
		File        string      `sexp:"file"`
		Changed     bool        `sexp:"changed"`
		Whole       bool        `sexp:"whole"`
		Restartable bool        `sexp:"restartable"`
		Disassembly string      `sexp:"disassembly"`
		Error       *wireError  `sexp:"error"`
		Absent      sexp.Symbol `sexp:"absent"`
	}
	wireBacktrace struct {
		Kind   sexp.Symbol `sexp:"kind"`
		Type   string      `sexp:"type"`
		Frames []string    `sexp:"frames"`
		More   int         `sexp:"more"`
		Age    int64       `sexp:"age"`
		Absent sexp.Symbol `sexp:"absent"`
	}
	wireLastError struct {
		Kind    sexp.Symbol `sexp:"kind"`
		Type    string      `sexp:"type"`
		Message string      `sexp:"message"`
		Frames  []string    `sexp:"frames"`
		More    int         `sexp:"more"`
		Code    string      `sexp:"code"`
		Age     int64       `sexp:"age"`
		Token   int64       `sexp:"token"`
		Classes []string    `sexp:"classes"`
		Slots   []Local     `sexp:"slots"`
	}
)
