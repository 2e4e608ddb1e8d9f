package mcpbridge

import (
	"context"
	"errors"
	"time"

	"swank-mcp/swank/lisp"
)

// tool is one tool: what the client sees of it, and what it does.
type tool struct {
	name  string // also what the errors call it
	title string
	set   toolset
	// shown tools are shown by default. Each costs every conversation its
	// description; a test holds them to 26 and 4,500 tokens.
	shown   bool
	doc     string // under 1,000 characters; the first sentence decides
	params  func(limits) []param
	example string // arguments of a call that works, for errors

	// The four hints of the protocol.
	readOnly, destructive, idempotent, openWorld bool

	// ordered tools take their place in a queue, and call order.admit then.
	ordered bool

	run func(context.Context, *request) (reply, error)
}

// errShutdown is the cause of contexts that end because the server does.
var errShutdown = errors.New("mcpbridge: the server is shutting down")

// request is one call of a tool.
type request struct {
	*args
	env

	// admit says that the call has its place in the queue of its session, or
	// needs none: the next call of the client may begin.
	admit func()
	// progress tells the client how the call goes on: the time since its start and
	// the new output. It is nil when the client does not ask.
	progress func(elapsed time.Duration, output string)
}

// env is what a tool works with: the image, and what belongs to the client
// whose call it is.
type env struct {
	image      Image
	session    string // of the image
	spool      *spool
	limits     limits
	sessionDir string                 // where sessions are saved; "" is the working directory
	kept       *lisp.Kept             // where the session is kept for the next server, or nil
	takes      func(tool string) bool // whether the tool can be called, so that a reply may name it
}

// limits are what the person who runs the server allows a call.
type limits struct {
	Timeout    time.Duration // of an evaluation that names none
	MaxTimeout time.Duration // the longest an evaluation may name
	MaxOutput  int           // characters of a reply
}

// reply is what a tool answers: one text, and whether it failed.
type reply struct {
	text   string
	failed bool

	failure *lisp.Failure // from which the next call may be told; may be nil
}

// spec is what the tool takes.
func (t *tool) spec(l limits) spec { return spec{t.name, t.example, t.params(l)} }

// answer carries out a call of the tool. An error becomes its text, with the next
// call to make.
func (t *tool) answer(ctx context.Context, r *request) reply {
	var out reply
	var err error
	if r.err != nil {
		err = r.err
	} else {
		out, err = t.run(ctx, r)
	}
	if err != nil {
		if r.err != nil && err == error(r.err) && r.err.advice == "" {
			r.err.advice = r.next()
		}
		out = reply{text: ErrorText(err), failed: true}
	}
	next := r.nextAfter(out.failure)
	if gone := (*lisp.DebuggerError)(nil); errors.As(err, &gone) {
		next = r.nextDebuggee(gone)
	}
	if next != "" {
		out.text += "\n\n" + sanitize(next)
	}
	return out
}
