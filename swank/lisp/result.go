package lisp

import (
	"time"

	"swank-mcp/swank/lisp/host"
)

// Text is a piece of text from the image whose middle may have been left out
// where it was produced, so that no amount of printing fills a memory.
type Text = host.Text

// Warning is one warning that was signalled and muffled during an evaluation.
type Warning struct {
	_       struct{} `sexp:",list"`
	Type    string   // as shown to the user: STYLE-WARNING, WARNING, ERROR, NOTE of the compiler, or the user's class
	Message string

	File         string // "" is the code of the evaluation
	Line, Column int    // of the form, from 1; 0 if not known
	Source       string // the line
	System       string // of File, if it is neither the project's nor the one that was named; else ""
}

// Timing is what one evaluation cost the image (times by the image's clock). Run is 0 unless
// Request.Timed.
type Timing struct {
	Real, Run, GC time.Duration
	Bytes         int64 // consed
}

// FailureKind tells why an evaluation has no values.
type FailureKind int

// The kinds of failure.
const (
	KindError     FailureKind = iota // an unhandled condition: reader, package, storage, any serious one
	KindTimeout                      // stopped because its time was up
	KindCancelled                    // stopped because the caller went away
	KindStopped                      // stopped by a person
	KindImageDied                    // the image ended in mid-evaluation
)

func (k FailureKind) String() string {
	return [...]string{KindError: "ERROR", KindTimeout: "TIMEOUT", KindCancelled: "CANCELLED", KindStopped: "STOPPED", KindImageDied: "IMAGE-DIED"}[k]
}

// Failure is an evaluation that ended without values: an ordinary outcome,
// not an error of the bridge.
type Failure struct {
	Kind    FailureKind
	Type    string   // condition type as shown: DIVISION-BY-ZERO, ASDF:MISSING-COMPONENT, …
	Message string   // its report, without trailing blanks
	Frames  []string // user frames, innermost first, without numbers
	More    int      // further user frames that are not in Frames

	Written, Meant string // a name that is wrong, in any case, and the nearest that is right; or ""
	System         string // that is not loaded, and may define what is missing; or ""
	Unbalanced     bool   // a parenthesis, quote or bar is missing, or one is too many
	IllFormed      string // the file that was read, if the same is so of that; or ""
	Frame          *int   // after a command that cannot be done on a frame: the first of those on which it can; or nil
}

// Result is everything one evaluation produced.
type Result struct {
	Values     []Text // printed values of the last form, in order; none for (values)
	Stdout     Text   // *standard-output*, *terminal-io*
	Stderr     Text   // *error-output*, *trace-output*
	Background Text   // what reached the process' own fds 1 and 2 meanwhile
	Warnings   []Warning
	Notes      []string // remarks of the bridge or helper, one line each
	Failure    *Failure // nil after success
	Timing     Timing
	Package    string // the session's package afterwards
	Built      string // which files of the system that was loaded were compiled, in words; may be ""
	System     string // the name of the system that was to be loaded; "" for other calls
	Origin     string // the file that defines the system that was loaded or tested; may be ""

	// Redefined, when not nil, says which definitions the evaluation has replaced.
	Redefined *Redefined

	// Profile, when not nil, is the tree of the profile that was made, within bounds.
	Profile *ProfileGraph

	// Tests, when not nil, is what the tests have come to that a suspended evaluation,
	// which has gone on, is running.
	Tests *Tests

	Job int // the number under which the evaluation goes on in the background, or 0

	report []byte // of a job, as the helper wrote it
	looked bool   // it has surely changed nothing

	// Suspended, when not nil, says that the evaluation waits in the debugger
	// at its Failure.
	Suspended *Suspension
	// Evaluation is the number of the suspended evaluation that the request was
	// about, or 0. Waiting says that it waits in the debugger as before.
	Evaluation int
	Waiting    bool
	Limit      time.Duration // that the evaluation has, where the request left it open
}

// Redefined tells which definitions an evaluation has replaced, with an entry of the image's
// history that [Image.PutBack] takes.
type Redefined struct {
	_            struct{} `sexp:",list"`
	Entry, Token int64
	Definitions  []Redefinition `sexp:",rest"`
}

// Redefinition is a definition that was replaced. Before and After are the source texts, ""
// where they are not known or too long.
type Redefinition struct {
	_                   struct{} `sexp:",list"`
	What, Before, After string
}

// Request is one evaluation.
type Request struct {
	Code    string        // any number of forms
	Input   string        // what the code reads as standard input, then end of file
	Package string        // *package* for this call only; "" is the session's
	Timeout time.Duration // > 0
	Debug   int           // DEBUG quality 0 to 3
	Suspend bool          // leave an unhandled error waiting in the debugger
	Trial   bool          // in a copy of the image, which is thrown away
	Timed   bool          // the Result's Timing has Run
	person  bool          // a person wants it, not a client

	Background bool          // go on in the background, as a [Job], from the beginning
	OnTimeout  bool          // go on there when Timeout is over or the caller has gone
	JobLimit   time.Duration // how long it may run there

	// Progress, when not nil, is called with what was printed since the last
	// call: at most five times a second, and at least every five seconds
	// with whatever there is, possibly "". It is called from one goroutine
	// and not after Evaluate has returned.
	Progress func(elapsed time.Duration, output string)
}
