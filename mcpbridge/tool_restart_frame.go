package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

var restartFrameTool = tool{
	name:  "restart-frame",
	title: "Restart frame",
	set:   inDebug,
	shown: true,
	doc: "Call the function of a frame of a suspended evaluation again, as it is defined now, with the arguments of the frame. " +
		"To fix and continue: redefine the broken function with evaluate-lisp, then restart its frame; " +
		"the answer is the original evaluation's.",
	params: func(o limits) []param {
		return []param{frameParam(), evaluationParam(), goOnParam(o)}
	},
	example:     `{"frame": 1}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.RestartFrame, Frame: r.integer("frame")}, "", "")
	},
}
