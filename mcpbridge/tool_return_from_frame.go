package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

var returnFromFrameTool = tool{
	name:  "return-from-frame",
	title: "Return from frame",
	set:   inDebug,
	shown: true,
	doc: "Make a frame of a suspended evaluation return given values to its caller; the evaluation goes on from there. " +
		"Answers as invoke-restart does.",
	params: func(o limits) []param {
		return []param{frameParam(),
			{name: "values", kind: kindText, required: true, aliases: []alias{{name: "value"}, {name: "code"}},
				doc: "Lisp code, evaluated in the frame, whose values are returned, as in (values 1 2)."},
			evaluationParam(), goOnParam(o)}
	},
	example:     `{"frame": 0, "values": "42"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.ReturnFrom, Frame: r.integer("frame")}, r.textOrNumber("values"), "")
	},
}
