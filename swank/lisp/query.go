package lisp

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
)

// Finding is what a look-up has found, as text for people and models.
type Finding struct {
	Title    string    `sexp:"title"`    // what was found, in a line; "" if the sections say it
	Sections []Section `sexp:"sections"` // none: nothing was found
	Whole    []Section `sexp:"whole"`    // the same in full, if Sections is shortened to a page
	Notes    []string  `sexp:"notes"`    // on what is left out
	Names    []string  `sexp:"names"`    // each thing found, by a name that can be looked up
	Standard string    `sexp:"standard"` // the symbol's name if it is one of COMMON-LISP, else ""
}

// LookupError is a look-up that could not look: no such package, no such
// symbol, not external, too slow. Type is a short name in upper case, Names are
// what may have been meant, best first; each can be looked up as it is.
type LookupError struct {
	Type    string   `sexp:"type"`
	Message string   `sexp:"message"`
	Names   []string `sexp:"names"`
}

func (e *LookupError) Error() string { return "lisp: " + e.Type + ": " + e.Message }

// DescribeSymbol describes what name, as a person writes it, means to the
// session: a symbol with prefix or without, (setf symbol), or a package, which it
// introduces: what it exports, its README, calls in its tests. pkg is where a symbol
// without prefix is looked for; "" is the session's package.
// Nothing is interned, read or evaluated; printing values may call print-object
// methods of the user's. The error may be a *LookupError.
func (s *Session) DescribeSymbol(ctx context.Context, name, pkg string) (*Finding, error) {
	return s.found(ctx, helper.NewCall("DESCRIBE-SYMBOL").Str(name).Key("SESSION").Str(s.name).Opt("PACKAGE", pkg))
}

// FindDefinition tells where name, as for DescribeSymbol or of a system, is defined, a
// section for each definition, with its source text where that can be had.
func (s *Session) FindDefinition(ctx context.Context, name, pkg string) (*Finding, error) {
	s.im.lookAtProject(ctx)
	return s.found(ctx, helper.NewCall("FIND-DEFINITION").Str(name).Key("SESSION").Str(s.name).Opt("PACKAGE", pkg))
}

// CrossReference tells what has a reference of the kind ("calls", "called-by",
// "references", "binds", "sets", "macroexpands", "specializes" or "all") with
// name, as for DescribeSymbol; at most limit lines in each section.
func (s *Session) CrossReference(ctx context.Context, name, kind, pkg string, limit int) (*Finding, error) {
	return s.found(ctx, helper.NewCall("CROSS-REFERENCE").Str(name).Str(kind).
		Key("SESSION").Str(s.name).Opt("PACKAGE", pkg).Key("LIMIT").Num(int64(limit)))
}

// AproposQuery is what [Session.Apropos] searches for.
type AproposQuery struct {
	Pattern string // words, each of which is in the name or the documentation, in any case
	Package string // "" is all packages
	Kind    string // "function", "macro", "generic-function", "variable", "constant", "class", "type"; "" is any
	Limit   int    // at least 1

	ExternalsOnly bool
}

// Apropos finds symbols by part of their names, the likeliest first, and by their
// documentation.
func (s *Session) Apropos(ctx context.Context, q AproposQuery) (*Finding, error) {
	c := helper.NewCall("APROPOS-SEARCH").Str(q.Pattern).Key("SESSION").Str(s.name).Opt("PACKAGE", q.Package).
		Key("LIMIT").Num(int64(q.Limit))
	if q.ExternalsOnly {
		c.Key("EXTERNALS-ONLY").Yes()
	}
	if q.Kind != "" {
		c.Key("KIND").Key(strings.ToUpper(q.Kind))
	}
	return s.found(ctx, c)
}

// CompleteSymbol tells what typed, the beginning of a name as for
// DescribeSymbol, may become; at most limit symbols.
func (s *Session) CompleteSymbol(ctx context.Context, typed, pkg string, limit int) (*Finding, error) {
	return s.found(ctx, helper.NewCall("COMPLETE-SYMBOL").Str(typed).
		Key("SESSION").Str(s.name).Opt("PACKAGE", pkg).Key("LIMIT").Num(int64(limit)))
}

// DescribeSystem tells what ASDF knows of a system or, without evaluating it, what the
// text of its definition says, and introduces it as DescribeSymbol does a package; with
// name "", which systems there are.
func (s *Session) DescribeSystem(ctx context.Context, name string) (*Finding, error) {
	s.im.lookAtProject(ctx)
	return s.found(ctx, helper.NewCall("DESCRIBE-SYSTEM").Str(name).Key("SESSION").Str(s.name))
}

// found asks for a Finding.
func (s *Session) found(ctx context.Context, c *helper.Call) (*Finding, error) {
	f := new(Finding)
	if err := s.query(ctx, c, f); err != nil {
		return nil, err
	}
	return f, nil
}

// query asks an image, which it starts if none runs, for an answer of the
// helper's WITH-LOOK-UP and decodes it into each of the shapes. It runs beside evaluations. The
// error may be a *LookupError.
func (s *Session) query(ctx context.Context, c *helper.Call, shapes ...any) error {
	for {
		if err := s.broughtBack(ctx); err != nil {
			return err
		}
		inst, err := s.im.acquire(ctx, 0)
		if err != nil {
			return err
		}
		err = inst.askFor(ctx, c, shapes...)
		var gone *UnansweredError
		if !errors.As(err, &gone) || !inst.replaced() || ctx.Err() != nil { // else it is asked of the image in its place
			return err
		}
	}
}

// askFor is query of this image.
func (inst *instance) askFor(ctx context.Context, c *helper.Call, shapes ...any) error {
	var failed struct {
		Error *LookupError `sexp:"error"`
	}
	if err := inst.lookUp(ctx, c, append(shapes, &failed)...); err != nil {
		return err
	}
	if failed.Error != nil {
		return failed.Error
	}
	return nil
}

// lookUp asks on the query thread and decodes the answer into each of the shapes.
func (inst *instance) lookUp(ctx context.Context, c *helper.Call, shapes ...any) error {
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	answer, err := inst.askQuery(bounded, c)
	if err != nil {
		return inst.unanswered(ctx, inst.queryError(ctx, err))
	}
	for _, v := range shapes {
		if err = helper.Decode(answer, v); err != nil {
			break
		}
	}
	return inst.queryError(ctx, err)
}

// A queryThread is the Lisp thread for queries that may run printing code of the
// user's. The control thread stops evaluations, and must never wait for
// such code.
type queryThread struct {
	starting chan struct{} // holds one value while a caller starts the thread
	thread   atomic.Int64  // its swank.ThreadID; 0: not started
}

// askQuery asks on the query thread, which it starts where there is none.
func (inst *instance) askQuery(ctx context.Context, c *helper.Call) (string, error) {
	_, answer, err := inst.callQuery(ctx, c)
	return answer, err
}

// callQuery is askQuery for those whose call may be answered after ctx has
// ended; it is nil if nothing was sent. A thread that does not answer in time is
// given up: the helper's own limit has not freed it.
func (inst *instance) callQuery(ctx context.Context, c *helper.Call) (*swank.Call, string, error) {
	if err := inst.mayAsk(ctx); err != nil {
		return nil, "", err
	}
	defer inst.asking.unshare()
	for attempt := 1; ; attempt++ {
		thread, err := inst.startQuery(ctx)
		if err != nil {
			return nil, "", err
		}
		call, err := c.Send(inst.conn, thread)
		if err != nil {
			return nil, "", err
		}
		answer, err := grabbed(ctx, call)
		var gone *swank.InvalidRPCError
		ended := errors.As(err, &gone)
		late := errors.Is(err, context.DeadlineExceeded)
		if ended || late {
			inst.forgetQueryThread(thread)
		}
		if late {
			err = &heldUpError{inst.heldUp(thread), err}
		}
		if !ended || attempt == 2 {
			return call, answer, err
		}
	}
}

// heldUpError is the end of a look-up that was not answered in time.
type heldUpError struct {
	why string // sentences on the lock that it waits for, "" if for none
	err error
}

func (e *heldUpError) Error() string { return e.err.Error() + ": " + e.why }
func (e *heldUpError) Unwrap() error { return e.err }

// heldUp tells of the lock that a thread of the image waits for, "" if of none. The caller
// shares inst.asking.
func (inst *instance) heldUp(thread swank.ThreadID) string {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	var why string
	answer, err := inst.askOn(ctx, inst.controlThread(), helper.NewCall("WAITS-FOR").Num(int64(thread)))
	if err != nil || helper.Decode(answer, &why) != nil {
		return "" // the caller reports in any case that it does not answer
	}
	return why
}

// startQuery returns the query thread and starts it where there is none. Who
// waits for another caller to start it waits no longer than ctx says. The caller shares
// inst.asking.
func (inst *instance) startQuery(ctx context.Context) (swank.ThreadID, error) {
	if inst.single {
		return inst.controlThread(), nil
	}
	q := &inst.query
	if id := q.thread.Load(); id != 0 {
		return swank.ThreadID(id), nil
	}
	select {
	case q.starting <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-q.starting }()
	if id := q.thread.Load(); id != 0 {
		return swank.ThreadID(id), nil
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	id, err := inst.threadBy(ctx, helper.NewCall("START-THREAD").Str("swank-mcp looking"))
	if err != nil {
		return 0, err
	}
	q.thread.Store(int64(id))
	return id, nil
}

// forgetQueryThread has the next look-up start another thread.
func (inst *instance) forgetQueryThread(thread swank.ThreadID) {
	inst.query.thread.CompareAndSwap(int64(thread), 0)
}
