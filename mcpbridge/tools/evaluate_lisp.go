package tools

import (
	"cmp"
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var evaluateTool = Tool{
	Name:  "evaluate-lisp",
	Title: "Evaluate Lisp",
	Set:   Core,
	Shown: true,
	Doc: "Evaluate Common Lisp in a live SBCL image that keeps its state: functions, variables, classes, loaded systems " +
		"and the current package stay for later calls. " +
		"Use it to run, test, explore, debug and look up Lisp code, in preference to starting sbcl in a shell. " +
		"Forms are read and evaluated one by one, so (defpackage …) (in-package …) (defun …) works in one call. " +
		"The reply has the sections [stdout], [stderr], [warnings] that have content, then `=> ` and each value of the last form; " +
		"after an unhandled error, its type, message and backtrace, then what was printed before; earlier forms keep their effects. " +
		"An evaluation that exceeds its timeout is stopped and the session goes on.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Required: true,
			Doc: "One or more Common Lisp forms."},
		{Name: "package", Kind: args.Text,
			Doc: "Package to evaluate in, for this call only: name or nickname, in any case. Default: the session's current package."},
		timeoutParam(0, "Seconds, more than 0, after which the evaluation is stopped."),
		{Name: "on-error", Kind: args.Text, Def: "report", Enum: []string{"report", "debug"},
			Doc: "What to do about an unhandled error: report it, or leave the evaluation suspended there for the debugger tools, which the reply names."},
		{Name: "input", Kind: args.Text,
			Doc: "What the code reads as standard input. Default: none, end of file."},
		{Name: "background", Kind: args.Flag,
			Doc: "Answer at once; the code runs beside later calls as a job, up to " + jobTime + "."},
		{Name: "on-timeout", Kind: args.Text, Def: "stop", Enum: []string{"stop", "background"},
			Doc: "background: then it goes on as a job."},
		{Name: "trial", Kind: args.Flag, Doc: "Only try it, in a copy of the image: nothing is kept."},
		{Name: "capture-time", Kind: args.Flag,
			Doc: "Add a line with real, run and GC time and the bytes consed."},
		{Name: "debug", Kind: args.Integer, Def: 1.0, Min: 0, Max: 3,
			Doc: "Compilation quality DEBUG of what this call defines; 3 keeps every frame and local variable for backtraces, at the cost of tail calls."},
	},
	Example: `{"code": "(+ 1 2)"}`,
	Effect:  runsCode,
	run:     evaluate,
}

// jobTime is [lisp.JobLimit] in descriptions.
const jobTime = "4 hours"

// readEvaluate is what a call of evaluate-lisp asks for.
func readEvaluate(r *Request) (in lisp.Request) {
	code := r.Text("code")
	in = r.sessionRequest()
	in.Code, in.Input, in.Trial = code, r.Text("input"), r.Flag("trial")
	in.Background, in.OnTimeout, in.JobLimit = r.Flag("background"), r.Text("on-timeout") == "background", cmp.Or(r.Limits.JobLimit, lisp.JobLimit)
	if in.Background && r.Has("timeout") {
		in.JobLimit = in.Timeout
	}
	in.Timed = r.Flag("capture-time")
	return in
}

func evaluate(ctx context.Context, r *Request) (Reply, error) {
	in := readEvaluate(r)
	r.LetGo()
	res, err := r.Session.Evaluate(ctx, in)
	if err != nil {
		return Reply{}, err
	}
	if res.Job != 0 {
		return Reply{Text: backgroundText(res, in)}, nil
	}
	boundWarnings(res, false, r.Spool)
	text, failed := render.Result(res, render.View{Timeout: in.Timeout, Timing: in.Timed})
	return Reply{Text: text, Failed: failed, Failure: res.Failure}, nil
}
