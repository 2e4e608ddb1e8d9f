package lisp

import (
	"time"

	"swank-mcp/sexp"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/restore"
)

// The shapes in which the helper answers; see its evaluate.lisp and stop.lisp.
type (
	wireAnswer struct {
		Values   []Text            `sexp:"values"`
		Error    *wireError        `sexp:"error"`
		Stdout   Text              `sexp:"stdout"`
		Stderr   Text              `sexp:"stderr"`
		Warnings []Warning         `sexp:"warnings"`
		Notes    []string          `sexp:"notes"`
		System   string            `sexp:"system"`
		Origin   string            `sexp:"origin"`
		Built    string            `sexp:"built"`
		Package  *string           `sexp:"package"` // its name may be ""
		Costs    wireCosts         `sexp:"costs"`
		Journal  []wireEntry       `sexp:"journal"`
		More     bool              `sexp:"more"` // entries than are in Journal
		Gone     []string          `sexp:"gone"`
		Loaded   [][]string        `sexp:"loaded"`
		Lost     []journal.Loss    `sexp:"lost"`
		Failures []restore.Failure `sexp:"failures"`

		Redefined *Redefined `sexp:"redefined"`
		Report    sexp.Raw   `sexp:"report"`
		Looked    bool       `sexp:"looked"` // it has surely changed nothing

		Suspended *wireSuspended `sexp:"suspended"`
		Parked    bool           `sexp:"parked"` // what it is about is suspended as before
		Absent    sexp.Symbol    `sexp:"absent"` // it is not suspended
		Departed  []wireDeparted `sexp:"departed"`
		Threads   []wireThread   `sexp:"threads"` // of the program, that are suspended
	}
	wireEntry struct {
		_       struct{} `sexp:",list"`
		Keys    []string
		Text    string
		Package string
		Ms      int64 // how long its form took, in milliseconds
		Runs    bool  // evaluating it again runs code of the user's around the definitions
		Bridge  bool  // it changes the bridge's own functions
		Order   int64 // its number among the session's in this image
	}
	wireError struct {
		Kind    sexp.Symbol `sexp:"kind"`
		Type    string      `sexp:"type"`
		Message string      `sexp:"message"`
		Frames  []string    `sexp:"frames"`
		More    int         `sexp:"more"`

		Instead    []string `sexp:"instead"` // what was written, what may have been meant
		System     string   `sexp:"system"`  // that is to be loaded first
		Unbalanced bool     `sexp:"unbalanced"`
		IllFormed  string   `sexp:"ill-formed"`
		Frame      *int     `sexp:"frame"` // of those that can be what this one cannot
	}
	wireCosts struct { // times in microseconds
		_             struct{} `sexp:",list"`
		Real, Run, GC int64
		Bytes         int64
	}
	wirePeek struct {
		_      struct{} `sexp:",list"`
		OutPos int64
		Out    string
		ErrPos int64
		Err    string
	}
	wireStatus struct {
		Package   string       `sexp:"package"`
		Running   *wireRunning `sexp:"running"`
		Threads   []Thread     `sexp:"threads"`
		Echo      string       `sexp:"echo"`
		HeapUsed  int64        `sexp:"heap-used"`
		HeapLimit int64        `sexp:"heap-limit"`

		Suspended        []wireAge    `sexp:"suspended"`
		SuspendedThreads []wireThread `sexp:"suspended-threads"`

		Definitions []wireCount    `sexp:"definitions"`
		Systems     []string       `sexp:"systems"`
		Lost        []journal.Loss `sexp:"lost"`
	}
	wireRunning struct {
		Waits  string   `sexp:"waits"`
		Frames []string `sexp:"frames"`
	}
	wireCount struct {
		_       struct{} `sexp:",list"`
		Section sexp.Symbol
		Count   int
	}
)

// result is the answer without what only the bridge knows.
func (a *wireAnswer) result() *Result {
	r := &Result{
		Values:   a.Values,
		Stdout:   a.Stdout,
		Stderr:   a.Stderr,
		Warnings: a.Warnings,
		Notes:    a.Notes,
		System:   a.System,
		Origin:   a.Origin,
		Built:    a.Built,
		report:   a.Report,
		looked:   a.Looked && len(a.Journal)+len(a.Gone)+len(a.Loaded)+len(a.Lost) == 0,

		Redefined: a.Redefined,
		Timing: Timing{
			Real:  time.Duration(a.Costs.Real) * time.Microsecond,
			Run:   time.Duration(a.Costs.Run) * time.Microsecond,
			GC:    time.Duration(a.Costs.GC) * time.Microsecond,
			Bytes: a.Costs.Bytes,
		},
	}
	if a.Package != nil {
		r.Package = *a.Package
	}
	if a.Error != nil {
		r.Failure = a.Error.failure()
	}
	return r
}

func (e *wireError) failure() *Failure {
	f := &Failure{Type: e.Type, Message: e.Message, Frames: e.Frames, More: e.More, System: e.System, Unbalanced: e.Unbalanced, IllFormed: e.IllFormed, Frame: e.Frame}
	if len(e.Instead) == 2 {
		f.Written, f.Meant = e.Instead[0], e.Instead[1]
	}
	switch e.Kind {
	case ":timeout":
		f.Kind = KindTimeout
	case ":cancelled":
		f.Kind = KindCancelled
	case ":stopped":
		f.Kind = KindStopped
	}
	return f
}
