package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var stepTool = Tool{
	Name:  "step",
	Title: "Step",
	Set:   Debug,
	Shown: true,
	Doc: "Go one step on in an evaluation that waits at a step or at a (break). " +
		"To begin: evaluate-lisp with code (step (f 1)), on-error debug and debug 3, which the functions to step through need, too.",
	Params: []args.Param{
		{Name: "mode", Kind: args.Text, Def: "into", Enum: []string{"into", "next", "out", "continue"}, Fold: stepMode,
			Doc: "into the call, over it (next), out of the function, or continue to the end."},
		evaluationParam, goOnParam,
	},
	Example: `{"mode": "next"}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		op := map[string]lisp.DebuggerOp{
			"into": lisp.StepInto, "next": lisp.StepNext, "out": lisp.StepOut, "continue": lisp.StepContinue,
		}[r.Text("mode")]
		return r.debug(ctx, &lisp.DebuggerCall{Op: op}, "", "")
	},
}

// stepMode maps the words of other debuggers to the modes.
func stepMode(s string) string {
	s = strings.TrimPrefix(strings.ReplaceAll(strings.ToLower(s), "_", "-"), "step-")
	switch s {
	case "over":
		return "next"
	case "in":
		return "into"
	case "finish", "return":
		return "out"
	case "resume":
		return "continue"
	}
	return s
}
