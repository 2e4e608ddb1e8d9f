package swank

import (
	"strings"

	"swank-mcp/sexp"
)

// Event is a message of the server that answers no request. The types are
// the pointers to the structs of this file and of query.go; a message that has
// no type here arrives as [Unknown].
//
// Fields of type [sexp.Raw] hold a datum as it was printed, not decoded.
type Event interface{ event() }

// WriteString is text that Lisp printed: (:write-string TEXT TARGET THREAD).
// It comes from whichever thread printed; no request can be told from it.
// Swank of 2.28 and later wants an acknowledgement, which the connection has
// already seen to.
type WriteString struct {
	Text   string
	Target string   // as printed: ":repl-result", a number, or "" for ordinary output
	Thread ThreadID // that waited for the acknowledgement; 0 if none was asked
}

// Debug tells that a Lisp thread entered the debugger, or came back to this
// level of it. It may come twice for one level. Until the debugger is left the
// thread does only what requests with its number as [Request.Thread] tell it.
type Debug struct {
	Thread    ThreadID
	Level     int // 1 is the outermost
	Condition Condition
	Restarts  []Restart // the position is the number to invoke it by
	Frames    []Frame   // the innermost first, at most 20 of them
	Conts     []int64   // ids of the requests pending in the thread, innermost first

	// Calls are the calls of this connection among Conts, in that order. It is
	// empty for a thread that no request of ours runs in.
	Calls []*Call
}

// Condition is what the debugger was entered for. Swank cuts Message at 65,536
// characters.
type Condition struct {
	Message string
	Type    string   // the name of its class, as printed in the request's package
	Extras  sexp.Raw // nil, or a list such as ((:references …))
}

// Restart is one way to leave the debugger. A leading * of Name marks the one
// that leads back to Swank's top level.
type Restart struct {
	_           struct{} `sexp:",list"`
	Name        string
	Description string
}

// Frame is one line of a backtrace, cut by Swank at some 200 characters.
type Frame struct {
	Number      int
	Text        string
	Restartable bool
}

// DebugActivate follows [Debug] when the debugger of that level waits for input.
type DebugActivate struct {
	_      struct{} `sexp:",list"`
	Thread ThreadID
	Level  int
}

// DebugReturn tells that a level of the debugger was left.
type DebugReturn struct {
	_        struct{} `sexp:",list"`
	Thread   ThreadID
	Level    int
	Stepping bool
}

// DebugCondition is a remark of the debugger, for instance that a thread to be
// interrupted does not exist.
type DebugCondition struct {
	_       struct{} `sexp:",list"`
	Thread  ThreadID
	Message string
}

// ReadAborted takes back a [ReadString].
type ReadAborted struct {
	_      struct{} `sexp:",list"`
	Thread ThreadID
	Tag    int64
}

// NewPackage tells that the REPL's package changed.
type NewPackage struct {
	_            struct{} `sexp:",list"`
	Name, Prompt string
}

// NewFeatures gives all of *features*, after it changed.
type NewFeatures struct {
	_        struct{} `sexp:",list"`
	Features sexp.Raw
}

// IndentationUpdate tells an editor how to indent macros: ((NAME INDENT PACKAGES)…).
// The first of a connection has some 40 kB.
type IndentationUpdate struct {
	_       struct{} `sexp:",list"`
	Updates sexp.Raw
}

// BackgroundMessage is a text for the user.
type BackgroundMessage struct {
	_    struct{} `sexp:",list"`
	Text string
}

// Ed asks for an editor on a place: nil or a list such as (:filename "x.lisp" :line 3).
type Ed struct {
	_    struct{} `sexp:",list"`
	What sexp.Raw
}

// EvalNoWait asks to evaluate Emacs Lisp. Nobody does.
type EvalNoWait struct {
	_    struct{} `sexp:",list"`
	Form string
}

// EdRPCNoWait calls a function of the editor and waits for no answer. Code in
// the image can use it to report to the client.
type EdRPCNoWait struct {
	_        struct{} `sexp:",list"`
	Function string
	Args     []sexp.Raw `sexp:",rest"`
}

// PresentationStart precedes, and [PresentationEnd] follows, text that stands
// for an object of the image.
type PresentationStart struct {
	_      struct{} `sexp:",list"`
	ID     sexp.Raw
	Target sexp.Raw
}

// PresentationEnd follows the text begun by [PresentationStart].
type PresentationEnd struct {
	_      struct{} `sexp:",list"`
	ID     sexp.Raw
	Target sexp.Raw
}

// ChannelSend is a message on a channel that Lisp code has opened.
type ChannelSend struct {
	_       struct{} `sexp:",list"`
	Channel int64
	Message sexp.Raw
}

// UnmatchedReaderError is a [ReaderError] that belongs to no pending call: the
// message that Lisp could not read was no request.
type UnmatchedReaderError struct{ Err *ReaderError }

// Unknown is a message that this package does not know, or has no use for.
type Unknown struct {
	Head    string // ":new-repl-output"
	Message sexp.Raw
}

// Unparsable is a message that could not be read and whose call is not known.
type Unparsable struct {
	Frame string // its beginning, at most 200 bytes
	Err   error
}

func (*WriteString) event()          {}
func (*Debug) event()                {}
func (*DebugActivate) event()        {}
func (*DebugReturn) event()          {}
func (*DebugCondition) event()       {}
func (*ReadAborted) event()          {}
func (*NewPackage) event()           {}
func (*NewFeatures) event()          {}
func (*IndentationUpdate) event()    {}
func (*BackgroundMessage) event()    {}
func (*Ed) event()                   {}
func (*EvalNoWait) event()           {}
func (*EdRPCNoWait) event()          {}
func (*PresentationStart) event()    {}
func (*PresentationEnd) event()      {}
func (*ChannelSend) event()          {}
func (*UnmatchedReaderError) event() {}
func (*Unknown) event()              {}
func (*Unparsable) event()           {}

// The wire shapes of the events whose Go form differs.

type wireWriteString struct {
	_      struct{} `sexp:",list"`
	Text   string
	Target sexp.Raw
	Thread sexp.Raw
}

type wireDebug struct {
	_         struct{} `sexp:",list"`
	Thread    ThreadID
	Level     int
	Condition struct {
		_        struct{} `sexp:",list"`
		Message  string
		TypeLine string
		Extras   sexp.Raw
	}
	Restarts []Restart
	Frames   []struct {
		_       struct{} `sexp:",list"`
		Number  int
		Text    string
		Options struct {
			Restartable bool `sexp:"restartable"`
		}
	}
	Conts []sexp.Raw
}

func (w *wireDebug) debug() *Debug {
	d := &Debug{
		Thread: w.Thread,
		Level:  w.Level,
		Condition: Condition{
			Message: w.Condition.Message,
			Type:    conditionType(w.Condition.TypeLine),
			Extras:  w.Condition.Extras,
		},
		Restarts: w.Restarts,
	}
	for _, f := range w.Frames {
		d.Frames = append(d.Frames, Frame{f.Number, f.Text, f.Options.Restartable})
	}
	for _, raw := range w.Conts {
		// Another client may have sent our thread a request with an id of any type.
		var id int64
		if sexp.Unmarshal(raw, &id) == nil && id != 0 {
			d.Conts = append(d.Conts, id)
		}
	}
	return d
}

// conditionType returns X of "   [Condition of type X]".
func conditionType(line string) string {
	line = strings.TrimSpace(line)
	if t, ok := strings.CutPrefix(line, "[Condition of type "); ok {
		return strings.TrimSuffix(t, "]")
	}
	return line
}
