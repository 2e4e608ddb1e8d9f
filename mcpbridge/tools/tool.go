package tools

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/mcpbridge/spool"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/project"
)

// Tool is one tool: what the client sees of it, and what it does.
type Tool struct {
	Name  string // also what the errors call it
	Title string
	Set   Set
	// Shown tools are shown by default. Each costs every conversation its
	// description; a test holds them to 28 and 4,600 tokens.
	Shown   bool
	Doc     string       // under 1,000 characters; clients may show the first sentence alone
	Params  []args.Param // numbers without a Max are bounded by Limits
	Example string       // arguments of a call that works, as JSON: errors and documentation show it

	Effect

	run func(context.Context, *Request) (Reply, error)
}

// Effect is what calls of a tool may do.
type Effect struct {
	// The four hints of the protocol.
	ReadOnly, Destructive, Idempotent, OpenWorld bool

	// Writes is the argument with which a call of a tool that is ReadOnly otherwise changes
	// a file, or "". --read-only keeps the tool, which then refuses the argument.
	Writes string

	// InTurn reports whether the call is to be carried out in turn with others of the
	// session; nil: none is. It has its place in the queue before the next call is read.
	InTurn func(*args.Args) bool

	// Looks says of a tool that is not ReadOnly that its calls which are not carried out in
	// turn only look.
	Looks bool

	// First says that the call waits for nobody, and that what is queued behind it waits
	// until it has ended: a client that sends a look at the debugger and a restart at
	// once sees what was there before the restart.
	First bool
}

// The effects of most tools.
var (
	looks    = Effect{ReadOnly: true, Idempotent: true}
	debugs   = Effect{ReadOnly: true, Idempotent: true, First: true}
	runsCode = Effect{Destructive: true, OpenWorld: true, InTurn: always}
)

// OnlyLooks reports whether a call with these arguments evaluates nothing and changes nothing.
func (e *Effect) OnlyLooks(a *args.Args) bool {
	if e.InTurn != nil && e.InTurn(a) {
		return false
	}
	return e.Looks || e.ReadOnly && (e.Writes == "" || !a.Flag(e.Writes))
}

// always is InTurn of a tool whose calls are all carried out in turn.
func always(*args.Args) bool { return true }

// withCode is InTurn of a tool that evaluates the argument code, if it is given.
func withCode(a *args.Args) bool { return strings.TrimSpace(a.Text("code")) != "" }

// Request is one call of a tool.
type Request struct {
	*args.Args
	Env

	// Progress tells the client how the call goes on: the time since its start and
	// the new output. It is nil when the client does not ask.
	Progress func(elapsed time.Duration, output string)

	ctx context.Context // of the call, or nil
}

// Env is what a tool works with: the image, and what belongs to the client
// whose call it is.
type Env struct {
	Session    Session
	Spool      *spool.Spool
	Files      *Files
	Profiles   *Profiles
	Limits     Limits
	ReadOnly   bool                    // --read-only: nothing may be changed
	Trees      *files.Trees            // the directories in which code may write; the way to all files
	SessionDir string                  // where sessions are saved; "" is the working directory
	Project    func() *project.Project // what the session works for; nil is none
	Kept       *kept.File              // where the session is kept for the next server, or nil
	Takes      func(tool string) bool  // whether the tool can be called, so that a reply may name it
}

// Limits are what the person who runs the server allows a call.
type Limits struct {
	Timeout    time.Duration // of an evaluation that names none
	MaxTimeout time.Duration // the longest an evaluation may name
	JobLimit   time.Duration // of an evaluation in the background
	MaxOutput  int           // characters of a reply
}

// Reply is what a tool answers: one text, and whether it failed.
type Reply struct {
	Text   string
	Failed bool

	Failure *lisp.Failure // of the evaluation, which may know the next call; or nil
}

// Spec is what the tool takes within the limits.
func (t *Tool) Spec(l Limits) args.Spec {
	params := slices.Clone(t.Params)
	for i := range params {
		p := &params[i]
		if l.JobLimit != 0 && l.JobLimit != lisp.JobLimit {
			p.Doc = strings.ReplaceAll(p.Doc, jobTime, render.Age(l.JobLimit))
		}
		switch {
		case p.Max != 0:
		case p.Kind == args.Number: // seconds
			p.Max = l.MaxTimeout.Seconds()
			if def, ok := p.Def.(float64); ok {
				p.Def = min(cmp.Or(def, l.Timeout.Seconds()), p.Max)
			}
		case p.Kind == args.Integer: // characters
			p.Max = float64(l.MaxOutput - pageRoom)
			p.Def = min(p.Def.(float64), p.Max)
		}
	}
	return args.Spec{Tool: t.Name, Example: t.Example, Params: params}
}

// Answer carries out a call of the tool. An error becomes its text, with the next
// call to make.
func (t *Tool) Answer(ctx context.Context, r *Request) Reply {
	r.ctx = ctx
	var out Reply
	var err error
	if r.Err != nil {
		err = r.Err
	} else {
		out, err = t.run(ctx, r)
	}
	if err != nil {
		if r.Err != nil && err == error(r.Err) && r.Err.Advice == "" {
			r.Err.Advice = r.mendedCall(ctx)
		}
		out = Reply{Text: ErrorText(err), Failed: true}
	}
	next := r.nextAfter(out.Failure)
	if gone := (*lisp.DebuggerError)(nil); errors.As(err, &gone) {
		next = r.nextDebuggee(gone, t.ReadOnly)
	}
	if next != "" {
		out.Text += "\n\n" + render.Safe(next)
	}
	return out
}
