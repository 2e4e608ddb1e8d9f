package mcpbridge

import (
	"context"
	"time"

	"swank-mcp/swank/lisp"
)

var evaluateTool = tool{
	name:  "evaluate-lisp",
	title: "Evaluate Lisp",
	set:   inCore,
	shown: true,
	doc: "Evaluate Common Lisp in a live SBCL image that keeps its state: functions, variables, classes, loaded systems " +
		"and the current package stay for later calls. " +
		"Use it to run, test, explore, debug and look up Lisp code, in preference to starting sbcl in a shell. " +
		"Forms are read and evaluated one by one, so (defpackage …) (in-package …) (defun …) works in one call. " +
		"The reply has the sections [stdout], [stderr], [warnings] that have content, then `=> ` and each value of the last form; " +
		"after an unhandled error, its type, message and backtrace, then what was printed before; earlier forms keep their effects. " +
		"Standard input is at end of file. An evaluation that exceeds its timeout is stopped and the session goes on.",
	params:      evaluateParams,
	example:     `{"code": "(+ 1 2)"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         evaluate,
}

func evaluateParams(o limits) []param {
	return []param{
		{name: "code", kind: kindText, required: true,
			doc: "One or more Common Lisp forms."},
		{name: "package", kind: kindText,
			doc: "Package to evaluate in, for this call only: name or nickname, in any case. Default: the session's current package."},
		{name: "timeout", kind: kindNumber, def: o.Timeout.Seconds(), min: 0, above: true, max: o.MaxTimeout.Seconds(),
			aliases: []alias{{name: "timeout_seconds"}, {name: "timeout_ms", scale: 1e-3}},
			doc:     "Seconds, more than 0, after which the evaluation is stopped."},
		{name: "on-error", kind: kindText, def: "report", enum: []string{"report", "debug"},
			doc: "What to do about an unhandled error: report it, or leave the evaluation suspended there for the debugger tools, which the reply names."},
		{name: "capture-time", kind: kindFlag,
			doc: "Add a line with real, run and GC time and the bytes consed. Default: false."},
		{name: "debug", kind: kindInteger, def: 1.0, min: 0, max: 3,
			doc: "Compilation quality DEBUG of what this call defines; 3 keeps every frame and local variable for backtraces, at the cost of tail calls."},
	}
}

// evaluateIn is what a call of evaluate-lisp asks for.
type evaluateIn struct {
	lisp.Request
	timing bool
}

func readEvaluate(r *request) (in evaluateIn, err error) {
	in.Code = r.text("code")
	in.Package = r.text("package")
	in.Timeout = time.Duration(r.number("timeout") * float64(time.Second))
	in.Suspend = r.text("on-error") == "debug"
	in.timing = r.flag("capture-time")
	in.Debug = r.integer("debug")
	if r.err != nil {
		return in, r.err
	}
	in.Timeout = max(in.Timeout, time.Millisecond)
	return in, nil
}

func evaluate(ctx context.Context, r *request) (reply, error) {
	in, err := readEvaluate(r)
	if err != nil {
		return reply{}, err
	}
	r.letGo()
	in.Progress = r.progress
	in.Queued = r.admit
	res, err := r.image.Evaluate(ctx, r.session, in.Request)
	if err != nil {
		return reply{}, err
	}
	text, failed := ResultText(res, View{Timeout: in.Timeout, Timing: in.timing})
	return reply{text: text, failed: failed, failure: res.Failure}, nil
}
