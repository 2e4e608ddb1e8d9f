// Package fake has an image without a Lisp, for tests of the tools and of the bridge.
package fake

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"swank-mcp/swank/lisp"
)

// Image is an image of any number of sessions.
type Image struct {
	Deaf sync.Mutex // that a test holds while evaluations of deaf go on which were told to end

	mu      sync.Mutex
	running int
	closed  []string // sessions
}

// Session is a tools.Session, whose methods are not documented again. It evaluates the
// few forms that the tests need, and knows a few names for the other methods.
type Session struct {
	*Image
	name string
}

// Session returns the session of that name.
func (f *Image) Session(name string) *Session { return &Session{f, name} }

func (f *Session) Close(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = append(f.closed, f.name)
	return nil
}

// Closed returns the names of the sessions that were closed.
func (f *Image) Closed() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.closed)
}

// Running is how many evaluations run.
func (f *Image) Running() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.running
}

func (f *Session) Definitions(context.Context, string) ([]lisp.Section, error) {
	return []lisp.Section{
		{Name: "loaded-systems", Lines: []string{"ALEXANDRIA"}},
		{Name: "functions", Lines: []string{"FACTORIAL (N)", "MINE::F (Y)"}},
		{Name: "generic-functions", Lines: []string{"AREA (S)", "  (POINT)"}},
	}, nil
}

func (f *Session) Packages(context.Context) ([]lisp.Package, error) {
	return []lisp.Package{
		{Name: "COMMON-LISP-USER", Nicknames: []string{"CL-USER"}, Current: true},
		{Name: "MINE", Own: true, Externals: 1200},
		{Name: "SB-INT", Implementation: true},
	}, nil
}

// Queue takes no place: what is in turn is known by the calls.
func (f *Session) Queue(string) *lisp.Place { return nil }

// Shown is nothing.
func (f *Session) Shown() []string { return nil }

// Looked tells nobody.
func (f *Session) Looked(context.Context, lisp.Look) {}

func (f *Session) ResetSession(_ context.Context, _ time.Duration) (*lisp.Reset, error) {
	return &lisp.Reset{Problems: []string{"package X: in use"}}, nil
}

func value(s string) *lisp.Result {
	return &lisp.Result{Values: []lisp.Text{{Head: s}}, Package: "COMMON-LISP-USER"}
}

func (f *Session) Evaluate(ctx context.Context, r lisp.Request) (*lisp.Result, error) {
	f.mu.Lock()
	f.running++
	f.mu.Unlock()
	defer func() { f.mu.Lock(); f.running--; f.mu.Unlock() }()
	switch code, arg, _ := strings.Cut(r.Code, " "); code {
	case "panic":
		panic("deliberate")
	case "fail":
		return nil, fmt.Errorf("lisp: %s", arg)
	case "hang":
		<-ctx.Done()
		return nil, context.Cause(ctx)
	case "deaf": // as an evaluation that stops late
		<-ctx.Done()
		f.Deaf.Lock()
		defer f.Deaf.Unlock()
		return nil, context.Cause(ctx)
	case "wait":
		d, err := time.ParseDuration(arg)
		if err != nil {
			return nil, err
		}
		select {
		case <-time.After(d):
			return value("waited " + arg), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	case "progress":
		for i := range 3 {
			if r.Progress == nil {
				return value("no progress"), nil
			}
			r.Progress(time.Duration(i)*time.Millisecond/2, fmt.Sprintf("line %d\n", i))
		}
		r.Progress(5*time.Second, "")
		return value("done"), nil
	case "session":
		return value(f.name), nil
	case "echo":
		return value(arg), nil
	case "print":
		return &lisp.Result{Stdout: lisp.Text{Head: arg}, Values: []lisp.Text{{Head: "NIL"}}}, nil
	case "repeat":
		var n int
		if _, err := fmt.Sscan(arg, &n); err != nil {
			return nil, err
		}
		return value(strings.Repeat("0123456789\n", n)), nil
	case "error":
		return &lisp.Result{Failure: &lisp.Failure{Type: "SIMPLE-ERROR", Message: arg, Frames: []string{"(ERROR " + arg + ")"}}}, nil
	case "busy":
		return nil, &lisp.BusyError{Waited: time.Second, Code: "(loop)", Age: 12 * time.Second, Limit: 30 * time.Second, Ahead: 1}
	case "nolisp":
		return nil, &lisp.StartError{Problem: "sbcl is not on PATH", Advice: "Install it: apt-get install sbcl"}
	}
	return value("3"), nil
}

func (f *Session) Status(context.Context) (*lisp.Status, error) {
	return &lisp.Status{State: "not started"}, nil
}
