package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var restartFrameTool = Tool{
	Name:  "restart-frame",
	Title: "Restart frame",
	Set:   Debug,
	Shown: true,
	Doc: "Call the function of a frame of a suspended evaluation again, as it is defined now, with the arguments of the frame. " +
		"To fix and continue: redefine the broken function with evaluate-lisp, then restart its frame; " +
		"the answer is the original evaluation's.",
	Params:  []args.Param{frameParam, evaluationParam, goOnParam},
	Example: `{"frame": 1}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.RestartFrame, Frame: r.Integer("frame")}, "", "")
	},
}
