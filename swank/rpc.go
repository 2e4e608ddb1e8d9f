package swank

import (
	"context"
	"errors"
	"fmt"

	"swank-mcp/sexp"
)

// The functions of Swank that this program depends on: those whose arguments
// and results have been the same from 2.26 to 2.32.

// ConnectionInfo is the answer of swank:connection-info.
type ConnectionInfo struct {
	PID            int                `sexp:"pid"`
	Style          sexp.Symbol        `sexp:"style"` // ":spawn"
	Implementation ImplementationInfo `sexp:"lisp-implementation"`
	Version        string             `sexp:"version"` // of Swank: "2.27", "2.32.git", before 2.18 a date
}

// ImplementationInfo names a Lisp.
type ImplementationInfo struct {
	Type    string `sexp:"type"`    // "SBCL"
	Name    string `sexp:"name"`    // "sbcl"
	Version string `sexp:"version"` // "2.2.9.debian"
}

// ConnectionInfo asks who the server is. As the first request of a connection
// it also spares the :new-features message that would come before another's answer.
func (c *Conn) ConnectionInfo(ctx context.Context) (*ConnectionInfo, error) {
	var info ConnectionInfo
	if err := c.Call(ctx, Request{Form: form("swank:connection-info")}, &info); err != nil {
		return nil, err
	}
	return &info, nil
}

// Grabbed is the answer of swank:eval-and-grab-output.
type Grabbed struct {
	_      struct{} `sexp:",list"`
	Output string   // what was written to *standard-output*
	Values string   // the printed values, one a line
}

// EvalAndGrabOutput returns the form that evaluates source; its value decodes
// into [Grabbed]. Swank reads only the first form of source, which is a string or a
// [sexp.Appender] of one.
func EvalAndGrabOutput(source any) any { return form("swank:eval-and-grab-output", source) }

// Ping has thread answer, and so finds out whether it still does.
func (c *Conn) Ping(ctx context.Context, thread ThreadID) error {
	const tag = 42
	var got int
	if err := c.Call(ctx, Request{Form: form("swank:ping", tag), Thread: thread}, &got); err != nil {
		return err
	}
	if got != tag {
		return fmt.Errorf("swank: ping of thread %d: got %d, want %d", thread, got, tag)
	}
	return nil
}

// ThrowToToplevel leaves all levels of the debugger that thread is in. The
// calls in it end with an [AbortError]; they may do so after this returns.
func (c *Conn) ThrowToToplevel(ctx context.Context, thread ThreadID) error {
	err := c.Call(ctx, Request{Form: form("swank:throw-to-toplevel"), Thread: thread}, nil)
	if abort := (*AbortError)(nil); errors.As(err, &abort) {
		return nil // the debugger's own evaluation, which this is, goes with it
	}
	return err
}

func form(function sexp.Symbol, args ...any) sexp.List {
	return append(sexp.List{function}, args...)
}
