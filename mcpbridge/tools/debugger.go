package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

// maxNumber bounds the numbers of evaluations and frames.
const maxNumber = 1_000_000

// inspectLimit is how long printing a frame may take; see inspect-frame.lisp.
const inspectLimit = 2 * time.Second

var (
	// evaluationParam names a suspended evaluation.
	evaluationParam = args.Param{Name: "evaluation", Kind: args.Integer, Min: 1, Max: maxNumber, Prefix: jobPrefix, Aliases: []args.Alias{{Name: "job"}},
		Doc: "Number of the suspended evaluation. Default: the only one."}
	frameParam = args.Param{Name: "frame", Kind: args.Integer, Required: true, Min: 0, Max: maxNumber,
		Doc: "Number of the frame in the backtrace."}
	// goOnParam is how long the evaluation may run on. Without it, the original limit
	// holds.
	goOnParam = func() args.Param { p := quietTimeout; p.Def = nil; return p }()
)

// debug carries out c, with code, and answers what comes of it.
func (r *Request) debug(ctx context.Context, c *lisp.DebuggerCall, code, pkg string) (Reply, error) {
	c.Number = r.Integer("evaluation")
	timeout := time.Duration(r.Number("timeout") * float64(time.Second))
	c.Anew = timeout == 0 && c.Op != lisp.EvalInFrame
	if timeout == 0 {
		timeout = r.Limits.Timeout
	}
	res, err := r.Session.Debug(ctx, *c, lisp.Request{
		Code: code, Package: pkg, Timeout: max(timeout, time.Millisecond), Debug: 1,
		Progress: r.Progress,
	})
	if err != nil {
		return Reply{}, err
	}
	if c.Op == lisp.AbortIt && res.Suspended == nil && !res.Waiting && res.Failure != nil && res.Failure.Type == "ABORTED" {
		return Reply{Text: abortedText(res)}, nil
	}
	boundWarnings(res, false, r.Spool)
	limit := cmp.Or(res.Limit, timeout)
	if res.Origin != "" {
		res.Stderr = withoutCompilerNoise(res.Stderr)
	}
	if res.Tests != nil {
		return testsText(res.Tests.What, res.Tests, res, lisp.Request{Timeout: limit}), nil
	}
	if res.Origin != "" && res.Suspended == nil && !res.Waiting {
		return loadText(strings.TrimSuffix(filepath.Base(res.Origin), ".asd"), limit, res), nil
	}
	text, failed := render.Result(res, render.View{Timeout: limit})
	if advice := debuggerAdvice(r, res, c); advice != "" {
		text += "\n" + advice
	}
	return Reply{Text: text, Failed: failed, Failure: res.Failure}, nil
}

// abortedText is the text of an evaluation that was aborted as asked: what it
// had done until then.
func abortedText(r *lisp.Result) string {
	var p render.Parts
	p.WriteString("Evaluation " + render.Count(r.Evaluation) + " is aborted.")
	p.Output(r)
	if len(r.Notes) > 0 {
		p.Begin()
		p.WriteString("; " + render.Safe(render.OneLine(strings.Join(r.Notes, "\n"))))
	}
	return p.String()
}

// debuggerAdvice is the next call after a command that the debugger refused
// with the type of failure, for the evaluation of that number.
func debuggerAdvice(asked *Request, r *lisp.Result, c *lisp.DebuggerCall) string {
	if r.Failure == nil || !r.Waiting {
		return ""
	}
	call := func(tool, arguments string) string {
		return fmt.Sprintf(`Next: %s {"evaluation": %d%s}`, tool, r.Evaluation, arguments)
	}
	switch r.Failure.Type {
	case "UNKNOWN-FRAME", "UNKNOWN-RESTART":
		return call("get-backtrace", "")
	case "VALUES-MISSING":
		return call("invoke-restart", `, "restart": `+rawtext.Quote(c.Restart)+`, "values": "'some-value"`)
	case "FIXED-FRAME", "ARGUMENTS-LOST":
		if frame := r.Failure.Frame; frame != nil {
			return asked.With("frame", json.RawMessage(strconv.Itoa(*frame)))
		}
		return call("invoke-restart", `, "restart": "RETRY"`)
	case "NOT-STEPPED-IN":
		return call("step", `, "mode": "next"`)
	case "NOT-STEPPING":
		return `To step through a call: evaluate-lisp {"code": "(flet ((f (x) (print x))) (declare (notinline f)) (step (f 1)))", "on-error": "debug", "debug": 3}`
	}
	return ""
}

// mendedCall returns the advice of an error about arguments: the call, mended. For a tool of the
// debugger the call is about a suspended evaluation, and names it if others are suspended, too.
func (r *Request) mendedCall(ctx context.Context) string {
	if !r.Declares("evaluation") || r.Tool == backtraceTool.Name {
		return r.Next()
	}
	given, all := r.Integer("evaluation"), r.suspended(ctx)
	number := given
	switch has := slices.ContainsFunc(all, func(s lisp.Suspended) bool { return s.Number == given }); {
	case has:
	case given != 0 && r.Tool == abortEvaluationTool.Name: // it may be a job
	case len(all) == 0 || given != 0:
		return r.nextDebuggee(&lisp.DebuggerError{Number: given, Suspended: all}, false)
	default:
		number = newest(all)
	}
	if !r.Has("frame") && (r.Tool == restartFrameTool.Name || r.Tool == returnFromFrameTool.Name) {
		frame, _ := strconv.Atoi(string(r.Usual("frame")))
		if f, err := r.Session.InspectFrame(ctx, number, frame, false); err != nil || !f.Restartable {
			return r.nextDebuggee(&lisp.DebuggerError{Number: number, Suspended: []lisp.Suspended{{Number: number}}}, false)
		}
	}
	if len(all) > 1 {
		return r.NextWith("evaluation", json.RawMessage(strconv.Itoa(number)))
	}
	return r.Next()
}

// suspended returns the suspended evaluations of the session.
func (r *Request) suspended(ctx context.Context) []lisp.Suspended {
	_, err := r.Session.Backtrace(ctx, maxNumber+1) // of an evaluation that there cannot be
	if none := (*lisp.DebuggerError)(nil); errors.As(err, &none) {
		return none.Suspended
	}
	return nil
}

// newest returns the number of the evaluation that began last: its reply the caller has seen last.
func newest(all []lisp.Suspended) int {
	return slices.MaxFunc(all, func(a, b lisp.Suspended) int { return a.Number - b.Number }).Number
}

// nextDebuggee returns the advice below the text of e: an evaluation to look at or, where
// none is suspended, how to see the last error and how to suspend the next. A call that
// looks, and has not said at which evaluation, is to be sent once more.
func (r *Request) nextDebuggee(e *lisp.DebuggerError, looks bool) string {
	var lines []string
	switch {
	case e.Occupied:
		lines = append(lines, "Send the same call again later.")
		if r.Takes("get-backtrace") {
			lines = append(lines, fmt.Sprintf(`Meanwhile: get-backtrace {"evaluation": %d}`, e.Number))
		}
	case len(e.Suspended) == 0:
		if r.Takes("evaluate-lisp") {
			lines = append(lines, `An evaluation is suspended at its error if evaluate-lisp is called with "on-error": "debug".`)
		}
		if r.Takes("describe-last-error") {
			lines = append(lines, "Next: describe-last-error {}")
		}
	case looks && e.Number == 0:
		lines = append(lines, r.With("evaluation", json.RawMessage(strconv.Itoa(newest(e.Suspended)))))
	case r.Takes("get-backtrace"):
		lines = append(lines, fmt.Sprintf(`Next: get-backtrace {"evaluation": %d}`, newest(e.Suspended)))
	}
	return strings.Join(lines, "\n")
}
