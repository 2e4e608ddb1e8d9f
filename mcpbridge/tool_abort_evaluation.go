package mcpbridge

import (
	"context"

	"swank-mcp/swank/lisp"
)

var abortEvaluationTool = tool{
	name:  "abort-evaluation",
	title: "Abort evaluation",
	set:   inDebug,
	shown: true,
	doc: "End a suspended evaluation; its cleanup forms run. " +
		"Answers what it had printed. What it had changed stays changed.",
	params: func(o limits) []param {
		return []param{evaluationParam(), goOnParam(o)}
	},
	example:     `{}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.AbortIt}, "", "")
	},
}
