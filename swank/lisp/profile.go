package lisp

import (
	"context"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// Trace is the transcript of an evaluation.
type Trace struct {
	Lines []string    `sexp:"lines"` // calls and what they returned, indented by depth
	Shown int64       `sexp:"shown"` // calls that are in Lines
	Calls []CallCount `sexp:"calls"` // of each function that was named
	Names []string    `sexp:"names"` // when a name was refused: functions that would do
}

// CallCount is how often a function was called, told or not.
type CallCount struct {
	_        struct{} `sexp:",list"`
	Function string
	Calls    int64
}

// Trace evaluates the one form in code and records, on its thread, the calls
// of the functions, which are names with blanks or commas between. Result and
// error are those of [Session.Evaluate].
func (s *Session) Trace(ctx context.Context, code, functions string, r Request) (*Trace, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helper.Call {
		return e.options(helper.NewCall("TRACE-FORM").Str(code).Str(functions))
	}}
	t := new(Trace)
	res, err := s.do(ctx, r, j, t)
	if err != nil {
		return nil, nil, err
	}
	return t, res, nil
}

// SwitchTrace makes every evaluation of the session tell the calls of the
// functions, or no more; none named are all that are traced. The finding says
// which are now. The error may be a *LookupError.
func (s *Session) SwitchTrace(ctx context.Context, functions, pkg string, on bool) (*Finding, error) {
	c := helper.NewCall("SWITCH-TRACE").Str(functions)
	if on {
		c.Yes()
	} else {
		c.No()
	}
	return s.found(ctx, c.Key("SESSION").Str(s.name).Opt("PACKAGE", pkg))
}

// Profiling says how an evaluation is to be profiled.
type Profiling struct {
	Mode      string // "CPU", "TIME", "ALLOC": by samples; "CALLS": Functions, call by call
	Functions string // names of functions or packages, for CALLS
	Repeat    int    // how often the form is run, > 0
	Limit     int    // functions to report
}

// Profile is where an evaluation spent its time.
type Profile struct {
	Value    string        `sexp:"value"`   // of the form, in brief; "" if it was stopped
	Elapsed  time.Duration `sexp:"elapsed"` // the helper's are microseconds
	Bytes    int64         `sexp:"bytes"`   // that were allocated meanwhile, not for CALLS
	Samples  int64         `sexp:"samples"`
	Rows     []ProfileRow  `sexp:"rows"`
	Programs int           `sexp:"programs"` // how many of the Rows, the first, are of the program's functions; not for CALLS
	Names    []string      `sexp:"names"`    // when a name was refused: functions that would do
}

// ProfileRow is one function: Self without what it called, Total with it.
// Both count samples, or microseconds in the mode CALLS.
type ProfileRow struct {
	_                  struct{} `sexp:",list"`
	Function           string
	Self, Total, Calls int64
}

// Profile compiles the one form in code and runs it under a profiler. Result
// and error are those of [Session.Evaluate]; the Result has no Values.
func (s *Session) Profile(ctx context.Context, code string, p Profiling, r Request) (*Profile, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helper.Call {
		return e.options(helper.NewCall("PROFILE-FORM").Str(code).Key(p.Mode).Key("FUNCTIONS").Str(p.Functions).
			Key("REPEAT").Num(int64(p.Repeat)).Key("LIMIT").Num(int64(p.Limit)))
	}}
	out := new(Profile)
	res, err := s.do(ctx, r, j, out)
	if err != nil {
		return nil, nil, err
	}
	out.Elapsed *= time.Microsecond
	return out, res, nil
}
