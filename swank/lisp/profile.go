package lisp

import (
	"context"
	"time"
)

// Trace is the transcript of an evaluation.
type Trace struct {
	Lines []string    // calls and what they returned, indented by depth
	Shown int64       // calls that are in Lines
	Calls []CallCount // of each function that was named
	Names []string    // when a name was refused: functions that would do
}

// CallCount is how often a function was called, told or not.
type CallCount struct {
	Function string
	Calls    int64
}

// Trace evaluates the one form in code and records, on its thread, the calls
// of the functions, which are names with blanks or commas between. Result and
// error are those of [Image.Evaluate].
func (im *Image) Trace(ctx context.Context, session, code, functions string, r Request) (*Trace, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helperCall {
		return e.options(newHelperCall("TRACE-FORM").str(code).str(functions))
	}}
	var w struct {
		Lines []string    `sexp:"lines"`
		Shown int64       `sexp:"shown"`
		Calls []wireCalls `sexp:"calls"`
		Names []string    `sexp:"names"`
	}
	res, err := im.do(ctx, session, r, j, &w)
	if err != nil {
		return nil, nil, err
	}
	t := &Trace{Lines: w.Lines, Shown: w.Shown, Names: w.Names}
	for _, c := range w.Calls {
		t.Calls = append(t.Calls, CallCount{c.Function, c.Calls})
	}
	return t, res, nil
}

// SwitchTrace makes every evaluation of the session tell the calls of the
// functions, or no more; none named are all that are traced. The finding says
// which are now. The error may be a *LookupError.
func (im *Image) SwitchTrace(ctx context.Context, session, functions, pkg string, on bool) (*Finding, error) {
	c := newHelperCall("SWITCH-TRACE").str(functions)
	if on {
		c.yes()
	} else {
		c.no()
	}
	return im.found(ctx, session, c.key("SESSION").str(session).opt("PACKAGE", pkg))
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
	Value    string // of the form, in brief; "" if it was stopped
	Elapsed  time.Duration
	Bytes    int64 // that were allocated meanwhile, not for CALLS
	Samples  int64
	Rows     []ProfileRow
	Programs int      // how many of the Rows, the first, are of the program's functions; not for CALLS
	Names    []string // when a name was refused: functions that would do
}

// ProfileRow is one function: Self without what it called, Total with it.
// Both count samples, or microseconds in the mode CALLS.
type ProfileRow struct {
	Function           string
	Self, Total, Calls int64
}

// Profile compiles the one form in code and runs it under a profiler. Result
// and error are those of [Image.Evaluate]; the Result has no Values.
func (im *Image) Profile(ctx context.Context, session, code string, p Profiling, r Request) (*Profile, *Result, error) {
	j := job{title: code, call: func(e *evaluation) *helperCall {
		return e.options(newHelperCall("PROFILE-FORM").str(code).key(p.Mode).key("FUNCTIONS").str(p.Functions).
			key("REPEAT").num(int64(p.Repeat)).key("LIMIT").num(int64(p.Limit)))
	}}
	var w struct {
		Value    string           `sexp:"value"`
		Elapsed  int64            `sexp:"elapsed"`
		Bytes    int64            `sexp:"bytes"`
		Samples  int64            `sexp:"samples"`
		Rows     []wireProfileRow `sexp:"rows"`
		Programs int              `sexp:"programs"`
		Names    []string         `sexp:"names"`
	}
	res, err := im.do(ctx, session, r, j, &w)
	if err != nil {
		return nil, nil, err
	}
	out := &Profile{Value: w.Value, Elapsed: time.Duration(w.Elapsed) * time.Microsecond, Bytes: w.Bytes, Samples: w.Samples, Names: w.Names, Programs: w.Programs}
	for _, row := range w.Rows {
		out.Rows = append(out.Rows, ProfileRow{row.Function, row.Self, row.Total, row.Calls})
	}
	return out, res, nil
}

type (
	wireCalls struct {
		_        struct{} `sexp:",list"`
		Function string
		Calls    int64
	}
	wireProfileRow struct {
		_                  struct{} `sexp:",list"`
		Function           string
		Self, Total, Calls int64
	}
)
