package tools

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// Session is what the tools work in: a session in an image. *lisp.Session is the one
// there is; its methods say what these do.
//
// Work, which are the methods that take a [lisp.Request] or a time limit, is carried
// out in turn with the session's evaluations. Errors of it: *lisp.StartError,
// *lisp.BusyError, *lisp.DebuggerError, the cause of ctx. The other methods answer
// beside it: they read and evaluate nothing of the user's and intern nothing; printing
// a value may call print-object methods, within a time limit. Errors of them:
// *lisp.LookupError, *lisp.DebuggerError, *lisp.JobError, *lisp.UnansweredError.
type Session interface {
	// Queue takes the next place in the queue of the session.
	Queue(title string) *lisp.Place
	Shown() []string // what people have shown, to begin the next reply with
	Looked(ctx context.Context, l lisp.Look)
	Status(ctx context.Context) (*lisp.Status, error)
	Close(ctx context.Context) error

	// Evaluation and what it has defined
	Evaluate(ctx context.Context, r lisp.Request) (*lisp.Result, error)
	Job(ctx context.Context, number int) (*lisp.Job, error)
	AbortJob(ctx context.Context, number int) (*lisp.Job, error)
	Definitions(ctx context.Context, pkg string) ([]lisp.Section, error)
	Packages(ctx context.Context) ([]lisp.Package, error)
	ResetSession(ctx context.Context, timeout time.Duration) (*lisp.Reset, error)
	Undo(ctx context.Context, steps int, to string, timeout time.Duration) (*lisp.Undone, error)
	TakeCheckpoint(ctx context.Context, name string, timeout time.Duration) (lisp.Checkpoint, error)
	Checkpoints() (list []lisp.Checkpoint, obstacle *lisp.ObstacleError)
	DropCheckpoint(name string) bool
	SaveCheckpoint(name string) (file string, err error)
	CheckpointsOnDisk() []lisp.OnDisk
	SaveSession(ctx context.Context, file string, timeout time.Duration) (*lisp.Saved, error)
	Sources(ctx context.Context, name, pkg string, timeout time.Duration) (*lisp.Sources, error)
	Written(ctx context.Context, name, pkg, file string, labels []string) error
	FileReadings(ctx context.Context, text string) ([]lisp.Reading, error)
	Writable(ctx context.Context, name, pkg string, d *lisp.Source, form, read string, at lisp.WritePlace) (*lisp.Writable, error)
	ReadUnlike(ctx context.Context, text, one, other string) (*lisp.Unlike, error)
	LoadSession(ctx context.Context, src lisp.SessionSource, r lisp.Request) (*lisp.Loaded, *lisp.Result, error)
	BringBack(ctx context.Context, src lisp.SessionSource, r lisp.Request) (l *lisp.Loaded, res *lisp.Result, had bool, err error)

	// The debugger
	Debug(ctx context.Context, c lisp.DebuggerCall, r lisp.Request) (*lisp.Result, error)
	InspectFrame(ctx context.Context, number, frame int, disassemble bool) (*lisp.Frame, error)
	Backtrace(ctx context.Context, number int) (*lisp.Backtrace, error) // nil if there was no error
	LastError(ctx context.Context) (*lisp.LastError, error)             // nil if there was none

	// Symbols, definitions, systems
	DescribeSymbol(ctx context.Context, name, pkg string) (*lisp.Finding, error)
	FindDefinition(ctx context.Context, name, pkg string) (*lisp.Finding, error)
	Disassemble(ctx context.Context, name, pkg string) (*lisp.Finding, error)
	CrossReference(ctx context.Context, name, kind, pkg string, limit int) (*lisp.Finding, error)
	Apropos(ctx context.Context, q lisp.AproposQuery) (*lisp.Finding, error)
	CompleteSymbol(ctx context.Context, typed, pkg string, limit int) (*lisp.Finding, error)
	DescribeSystem(ctx context.Context, name string) (*lisp.Finding, error)
	ProjectStatus(ctx context.Context, r lisp.Request) (*lisp.ProjectStatus, error)
	ProjectDefinitions(ctx context.Context, name string, r lisp.Request) ([]lisp.ProjectDefinition, error)

	// Expanding, compiling, loading, testing
	Expand(ctx context.Context, code, mode string, r lisp.Request) (*lisp.Expansion, *lisp.Result, error)
	Compile(ctx context.Context, c lisp.Compilation, r lisp.Request) (*lisp.Compiled, *lisp.Result, error)
	Load(ctx context.Context, file string, r lisp.Request) (*lisp.Result, error)
	LoadSystem(ctx context.Context, system string, force bool, r lisp.Request) (*lisp.Result, error)
	Reload(ctx context.Context, r lisp.Request, tell func(*lisp.Reloaded, *lisp.Result)) error // tells nothing where no image runs
	RunTests(ctx context.Context, system, test string, r lisp.Request) (*lisp.Tests, *lisp.Result, error)
	Fresh(ctx context.Context, system string, tests bool, test string, r lisp.Request) (*lisp.Fresh, error)

	// Objects, calls, time, memory, threads
	Inspect(ctx context.Context, code string, v lisp.View, r lisp.Request) (*lisp.Finding, *lisp.Result, error)
	InspectHandle(ctx context.Context, handle string, v lisp.View) (*lisp.Finding, error)
	Trace(ctx context.Context, code, functions string, r lisp.Request) (*lisp.Trace, *lisp.Result, error)
	SwitchTrace(ctx context.Context, functions, pkg string, on bool) (*lisp.Finding, error)
	Profile(ctx context.Context, code string, p lisp.Profiling, r lisp.Request) (*lisp.Profile, *lisp.Result, error)
	MemoryReport(ctx context.Context, limit int) (*lisp.Finding, error)
	Threads(ctx context.Context, backtraces bool) (*lisp.Finding, error)
	InterruptThread(ctx context.Context, thread string, abort bool) (*lisp.Finding, error)
}
