package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var returnFromFrameTool = Tool{
	Name:  "return-from-frame",
	Title: "Return from frame",
	Set:   Debug,
	Doc: "Make a frame of a suspended evaluation return given values to its caller; the evaluation goes on from there. " +
		"Answers as invoke-restart does.",
	Params: []args.Param{frameParam,
		{Name: "values", Kind: args.Text, Required: true, OrNumber: true, Aliases: []args.Alias{{Name: "value"}, {Name: "code"}},
			Doc: "Lisp code, evaluated in the frame, whose values are returned, as in (values 1 2)."},
		evaluationParam, goOnParam},
	Example: `{"frame": 0, "values": "42"}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.ReturnFrom, Frame: r.Integer("frame")}, r.Text("values"), "")
	},
}
