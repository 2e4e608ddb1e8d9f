package mcpbridge

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

// builder is the part of [Image] that expands, compiles, loads and tests. But
// for Disassemble, what it does runs in turn with the session's evaluations, under the limits of r;
// the results and errors are those of Evaluate.
type builder interface {
	// Expand expands the macro call in code; for mode see the tool.
	Expand(ctx context.Context, session, code, mode string, r lisp.Request) (*lisp.Expansion, *lisp.Result, error)
	// Compile compiles code or a file with the file compiler and loads it.
	Compile(ctx context.Context, session string, c lisp.Compilation, r lisp.Request) (*lisp.Compiled, *lisp.Result, error)
	// Load loads a file.
	Load(ctx context.Context, session, file string, r lisp.Request) (*lisp.LoadPlace, *lisp.Result, error)
	// RunTests runs a test, or the tests of a system.
	RunTests(ctx context.Context, session, system, test string, r lisp.Request) (*lisp.Tests, *lisp.Result, error)
	// Disassemble shows the machine code of a function; a look-up.
	Disassemble(ctx context.Context, session, name, pkg string) (*lisp.Finding, error)
}

// packageParam is the package argument of the tools that read code.
var packageParam = param{name: "package", kind: kindText,
	doc: "Package to read it in. Default: the session's."}

// hiddenPackage is the same, not advertised, where the code names its own.
var hiddenPackage = func() param { p := packageParam; p.hidden = true; return p }()

// debugParam is the compilation quality DEBUG of what a tool compiles.
func debugParam(doc string) param {
	return param{name: "debug", kind: kindInteger, def: 1.0, min: 0, max: 3, doc: doc}
}

// timeoutParam is the time limit of a tool that is done with by default.
func timeoutParam(o limits, def time.Duration) param {
	return param{name: "timeout", kind: kindNumber, def: min(def, o.MaxTimeout).Seconds(), min: 0, above: true, max: o.MaxTimeout.Seconds(),
		aliases: []alias{{name: "timeout_seconds"}, {name: "timeout_ms", scale: 1e-3}},
		doc:     "Seconds until it is stopped."}
}

// quietTimeout is a time limit that is accepted and not advertised.
func quietTimeout(o limits) []param {
	p := timeoutParam(o, o.Timeout)
	p.hidden = true
	return []param{p}
}

// sessionRequest is the request of work in the session: its package, if the
// tool has that argument, its time limit, and where its progress goes.
func (r *request) sessionRequest() lisp.Request {
	in := lisp.Request{
		Timeout: max(time.Duration(r.number("timeout")*float64(time.Second)), time.Millisecond), Debug: 1,
		Progress: r.progress, Queued: r.admit,
	}
	if r.declares("package") {
		in.Package = r.text("package")
	}
	if r.declares("debug") {
		in.Debug = r.integer("debug")
	}
	return in
}

// context adds what came along with the answer of a tool: output, warnings
// and notes.
func (p *parts) context(res *lisp.Result) {
	p.section("stdout", res.Stdout)
	p.section("stderr", res.Stderr)
	p.warnings(res.Warnings)
	p.section("background output", res.Background)
	p.remarks(res, View{})
}
