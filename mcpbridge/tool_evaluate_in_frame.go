package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

var evaluateInFrameTool = tool{
	name:  "evaluate-in-frame",
	title: "Evaluate in frame",
	set:   inDebug,
	shown: true,
	doc: "Evaluate Lisp code in a frame of a suspended evaluation, where it sees the frame's local variables and can change them with setf. " +
		"An error in it is reported; the evaluation stays suspended.",
	params: func(o limits) []param {
		return []param{
			{name: "code", kind: kindText, required: true, doc: "One or more forms."},
			frameParam(), evaluationParam(),
			{name: "package", kind: kindText, hidden: true, doc: "Package to evaluate in. Default: that of the frame's code."},
			goOnParam(o),
		}
	},
	example:     `{"code": "(+ 1 2)", "frame": 0}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.EvalInFrame, Frame: r.integer("frame")}, r.text("code"), r.text("package"))
	},
}
