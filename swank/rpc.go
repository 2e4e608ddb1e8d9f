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
	Machine        MachineInfo        `sexp:"machine"`
	Modules        []string           `sexp:"modules"`
	Package        PackageInfo        `sexp:"package"`
	Version        string             `sexp:"version"` // of Swank: "2.27", "2.32.git", before 2.18 a date
}

// ImplementationInfo names a Lisp.
type ImplementationInfo struct {
	Type    string `sexp:"type"`    // "SBCL"
	Name    string `sexp:"name"`    // "sbcl"
	Version string `sexp:"version"` // "2.2.9.debian"
}

// MachineInfo names the machine that Lisp runs on.
type MachineInfo struct {
	Instance string `sexp:"instance"` // host name
	Type     string `sexp:"type"`     // "X86-64"
	Version  string `sexp:"version"`
}

// PackageInfo names a package.
type PackageInfo struct {
	Name   string `sexp:"name"`   // "COMMON-LISP-USER"
	Prompt string `sexp:"prompt"` // "CL-USER"
}

// ConnectionInfo asks who the server is. As the first request of a connection
// it also spares the :new-features event that would come before another's answer.
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

// EvalAndGrabOutput evaluates the first form of source in the given package and
// thread, of which see [Request]. An error in it is a [Debug] event, after
// which this waits until the debugger is left.
func (c *Conn) EvalAndGrabOutput(ctx context.Context, thread ThreadID, pkg, source string) (*Grabbed, error) {
	var g Grabbed
	err := c.Call(ctx, Request{Form: EvalAndGrabOutput(source), Package: pkg, Thread: thread}, &g)
	if err != nil {
		return nil, err
	}
	return &g, nil
}

// ListAllPackageNames returns the names of all packages of the image, with
// their nicknames if asked for.
func (c *Conn) ListAllPackageNames(ctx context.Context, thread ThreadID, nicknames bool) ([]string, error) {
	f := form("swank:list-all-package-names")
	if nicknames {
		f = form("swank:list-all-package-names", true)
	}
	var names []string
	if err := c.Call(ctx, Request{Form: f, Thread: thread}, &names); err != nil {
		return nil, err
	}
	return names, nil
}

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
	_, err := c.leave(ctx, thread, form("swank:throw-to-toplevel"))
	return err
}

// InvokeNthRestart invokes restart n, a position in [Debug.Restarts], of the
// debugger at level of thread. It reports whether there was one: Swank does
// nothing where level is not the innermost or n is out of range.
func (c *Conn) InvokeNthRestart(ctx context.Context, thread ThreadID, level, n int) (bool, error) {
	return c.leave(ctx, thread, form("swank:invoke-nth-restart-for-emacs", level, n))
}

// leave calls a function that leaves the debugger. Since that takes the
// debugger's own evaluation with it, success is an abort.
func (c *Conn) leave(ctx context.Context, thread ThreadID, f any) (bool, error) {
	err := c.Call(ctx, Request{Form: f, Thread: thread}, nil)
	if abort := (*AbortError)(nil); errors.As(err, &abort) {
		return true, nil
	}
	return false, err
}

func form(function sexp.Symbol, args ...any) sexp.List {
	return append(sexp.List{function}, args...)
}
