package tools

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// Session is what the tools work in: a session in an image. *lisp.Session is the one
// there is.
type Session interface {
	// Queue takes the next place in the queue of the session; see lisp.Session.
	Queue() *lisp.Place
	// Evaluate evaluates in turn with other evaluations of the session. Errors: *lisp.StartError, *lisp.BusyError, the cause of ctx.
	Evaluate(ctx context.Context, r lisp.Request) (*lisp.Result, error)
	// Definitions lists what the session has defined, in the package if one is
	// given; empty without an image.
	Definitions(ctx context.Context, pkg string) ([]lisp.Section, error)
	// Packages lists the packages of the image.
	Packages(ctx context.Context) ([]lisp.Package, error)
	// ResetSession undoes what the session has made, in turn like Evaluate.
	ResetSession(ctx context.Context, timeout time.Duration) (*lisp.Reset, error)
	sessionSaver
	debugger
	// Close gives up what the session has; see lisp.Session.
	Close(ctx context.Context) error
	// Status tells what is known of the image and never starts one.
	Status(ctx context.Context) (*lisp.Status, error)

	builder
	looker
	observer
}

// debugger is what the debugger's tools want of an image.
type debugger interface {
	// Debug does what c says with a suspended evaluation, in turn with the evaluations
	// of the session. Errors: *lisp.DebuggerError, and those of Evaluate.
	Debug(ctx context.Context, c lisp.DebuggerCall, r lisp.Request) (*lisp.Result, error)
	// InspectFrame looks at a frame of a suspended evaluation. Errors:
	// *lisp.DebuggerError.
	InspectFrame(ctx context.Context, number, frame int, disassemble bool) (*lisp.Frame, error)
	// Backtrace returns the frames of a suspended evaluation, or of the last
	// error, nil if there was none. Errors: *lisp.DebuggerError.
	Backtrace(ctx context.Context, number int) (*lisp.Backtrace, error)
	// LastError returns what is known of the last error, nil if there was none.
	LastError(ctx context.Context) (*lisp.LastError, error)
}

// looker is the part of [Session] that looks without touching: nothing of the
// user's is read or evaluated, nothing interned. Printing a value may call
// print-object methods, within a time limit. Errors may be *lisp.LookupError.
type looker interface {
	// DescribeSymbol describes what name means to the session; see lisp.Session.
	DescribeSymbol(ctx context.Context, name, pkg string) (*lisp.Finding, error)
	FindDefinition(ctx context.Context, name, pkg string) (*lisp.Finding, error)
	CrossReference(ctx context.Context, name, kind, pkg string, limit int) (*lisp.Finding, error)
	Apropos(ctx context.Context, q lisp.AproposQuery) (*lisp.Finding, error)
	CompleteSymbol(ctx context.Context, typed, pkg string, limit int) (*lisp.Finding, error)
	DescribeSystem(ctx context.Context, name string) (*lisp.Finding, error)
}

// observer is the part of [Session] that watches objects, calls, time, memory
// and threads. Methods with a Result run in turn with the session's
// evaluations, the others beside them; see lisp.Session for each.
type observer interface {
	Inspect(ctx context.Context, code string, v lisp.View, r lisp.Request) (*lisp.Finding, *lisp.Result, error)
	InspectHandle(ctx context.Context, handle string, v lisp.View) (*lisp.Finding, error)
	Trace(ctx context.Context, code, functions string, r lisp.Request) (*lisp.Trace, *lisp.Result, error)
	SwitchTrace(ctx context.Context, functions, pkg string, on bool) (*lisp.Finding, error)
	Profile(ctx context.Context, code string, p lisp.Profiling, r lisp.Request) (*lisp.Profile, *lisp.Result, error)
	MemoryReport(ctx context.Context, limit int) (*lisp.Finding, error)
	Threads(ctx context.Context, backtraces bool) (*lisp.Finding, error)
	InterruptThread(ctx context.Context, thread string, abort bool) (*lisp.Finding, error)
}

// sessionSaver is what saved sessions need of an [Session].
type sessionSaver interface {
	// SaveSession returns the source of what the session has defined, in turn
	// like Evaluate.
	SaveSession(ctx context.Context, file string, timeout time.Duration) (*lisp.Saved, error)
	// LoadSession evaluates source like Evaluate, going on behind failures.
	LoadSession(ctx context.Context, file, source string, r lisp.Request) (*lisp.Loaded, *lisp.Result, error)
}

// builder is the part of [Session] that expands, compiles, loads and tests. But
// for Disassemble, what it does runs in turn with the session's evaluations, under the limits of r;
// the results and errors are those of Evaluate.
type builder interface {
	// Expand expands the macro call in code; for mode see the tool.
	Expand(ctx context.Context, code, mode string, r lisp.Request) (*lisp.Expansion, *lisp.Result, error)
	// Compile compiles code or a file with the file compiler and loads it.
	Compile(ctx context.Context, c lisp.Compilation, r lisp.Request) (*lisp.Compiled, *lisp.Result, error)
	// Load loads a file.
	Load(ctx context.Context, file string, r lisp.Request) (*lisp.LoadPlace, *lisp.Result, error)
	// LoadSystem loads a system by its name or the path of its definition.
	LoadSystem(ctx context.Context, system string, force bool, r lisp.Request) (*lisp.Result, error)
	// RunTests runs a test, or the tests of a system.
	RunTests(ctx context.Context, system, test string, r lisp.Request) (*lisp.Tests, *lisp.Result, error)
	// Disassemble shows the machine code of a function; a look-up.
	Disassemble(ctx context.Context, name, pkg string) (*lisp.Finding, error)
}
