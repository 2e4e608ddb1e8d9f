package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var evaluateInFrameTool = Tool{
	Name:  "evaluate-in-frame",
	Title: "Evaluate in frame",
	Set:   Debug,
	Shown: true,
	Doc: "Evaluate Lisp code in a frame of a suspended evaluation, where it sees the frame's local variables and can change them with setf. " +
		"An error in it is reported; the evaluation stays suspended.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Required: true, Doc: "One or more forms."},
		frameParam, evaluationParam,
		{Name: "package", Kind: args.Text, Hidden: true, Doc: "Package to evaluate in. Default: that of the frame's code."},
		goOnParam,
	},
	Example: `{"code": "(+ 1 2)", "frame": 0}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.EvalInFrame, Frame: r.Integer("frame")}, r.Text("code"), r.Text("package"))
	},
}
