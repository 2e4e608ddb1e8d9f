package mcpbridge

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp"
)

var stepTool = tool{
	name:  "step",
	title: "Step",
	set:   inDebug,
	shown: true,
	doc: "Go one step on in an evaluation that waits at a step or at a (break). " +
		"To begin: evaluate-lisp with code (step (f 1)), on-error debug and debug 3, which the functions to step through need, too.",
	params: func(o limits) []param {
		return []param{
			{name: "mode", kind: kindText, def: "into", enum: []string{"into", "next", "out", "continue"}, fold: stepMode,
				doc: "into the call, over it (next), out of the function, or continue to the end."},
			evaluationParam(), goOnParam(o),
		}
	},
	example:     `{"mode": "next"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		op := map[string]lisp.DebuggerOp{
			"into": lisp.StepInto, "next": lisp.StepNext, "out": lisp.StepOut, "continue": lisp.StepContinue,
		}[r.text("mode")]
		return r.debug(ctx, &lisp.DebuggerCall{Op: op}, "", "")
	},
}

// stepMode are the words of other debuggers.
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
