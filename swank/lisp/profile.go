package lisp

import (
	"context"
	"path/filepath"
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

// CallCount is how often a function was called, shown or not.
type CallCount struct {
	_        struct{} `sexp:",list"`
	Function string
	Calls    int64 // on the thread of the evaluation
	Others   int64 // on all other threads, whoever has started them, while it ran
}

// Trace evaluates the one form in code and records, on its thread, the calls
// of the functions, which are names with blanks or commas between. Those on other
// threads are counted. Result and error are those of [Session.Evaluate].
func (s *Session) Trace(ctx context.Context, code, functions string, r Request) (*Trace, *Result, error) {
	return reported[Trace](ctx, s, r, job{title: code, call: helper.NewCall("TRACE-FORM").Str(code).Str(functions)})
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
	Functions string // names of functions or packages, for CALLS; "": all of the Request's package
	Repeat    int    // how often the form is run, > 0
	Limit     int    // functions to report
}

// Profile is where an evaluation spent its time.
type Profile struct {
	Value    string         `sexp:"value"`   // of the form, in brief; "" if it was stopped
	Elapsed  time.Duration  `sexp:"elapsed"` // the helper's are microseconds
	Bytes    int64          `sexp:"bytes"`   // that were allocated meanwhile, not for CALLS
	Samples  int64          `sexp:"samples"`
	Rows     []ProfileRow   `sexp:"rows"`
	Projects int            `sexp:"projects"` // how many of the Rows, the first, are of the project's functions; not for CALLS
	Programs int            `sexp:"programs"` // and how many after them of other programs'; the others are the Lisp's
	Frames   []ProfileFrame `sexp:"frames"`   // the functions on the Stacks
	Stacks   []ProfileStack `sexp:"stacks"`   // that were sampled, those sampled most first; not for CALLS
	Names    []string       `sexp:"names"`    // when a name was refused: functions that would do
}

// ProfileFrame is a function on a stack.
type ProfileFrame struct {
	_        struct{} `sexp:",list"`
	Function string
	Kind     FrameKind
}

// FrameKind says whose a function is.
type FrameKind int64

// The kinds of functions.
const (
	ProjectFrame  FrameKind = iota // the project's, or the session's
	ProgramFrame                   // another program's
	LispFrame                      // the Lisp's, as programs call it
	InternalFrame                  // of the Lisp's inside, or foreign
)

// ProfileStack is a stack that was sampled Samples times. Frames are places in the Frames
// of the profile, outermost first.
type ProfileStack struct {
	_       struct{} `sexp:",list"`
	Samples int64
	Frames  []int `sexp:",rest"`
}

// ProfileRow is one function: Self without what it called, Total with it.
// Both count samples, or microseconds in the mode CALLS.
type ProfileRow struct {
	_                  struct{} `sexp:",list"`
	Function           string
	Self, Total, Calls int64
}

// Profile compiles the one form in code and runs it under a profiler. With a package in
// the Request, Rows are of the functions of that alone. Result and error are those of
// [Session.Evaluate]; the Result has no Values.
func (s *Session) Profile(ctx context.Context, code string, how Profiling, r Request) (*Profile, *Result, error) {
	c := helper.NewCall("PROFILE-FORM").Str(code).Key(how.Mode).Key("FUNCTIONS").Str(how.Functions).
		Key("REPEAT").Num(int64(how.Repeat)).Key("LIMIT").Num(int64(how.Limit))
	if p := s.im.Project(ctx); p != nil && len(p.Definitions) > 0 {
		c.Key("PROJECT").Quote(len(p.Definitions), func(i int) { c.Str(filepath.Dir(p.Definitions[i]) + string(filepath.Separator)) })
	}
	p := new(Profile)
	j := job{title: code, call: c, decoded: func(res *Result) {
		p.Elapsed *= time.Microsecond
		if s.im.events.wanted() {
			res.Profile = p.graph(how.Mode)
		}
	}}
	res, err := s.do(ctx, r, j, p)
	if err != nil {
		return nil, nil, err
	}
	return p, res, nil
}
