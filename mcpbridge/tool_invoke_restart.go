package mcpbridge

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp"
)

var invokeRestartTool = tool{
	name:  "invoke-restart",
	title: "Invoke restart",
	set:   inDebug,
	shown: true,
	doc: "Let a suspended evaluation go on by one of the restarts that its reply listed. " +
		"Answers what comes of it: the original evaluation's values and all its output, or the next error.",
	params: func(o limits) []param {
		return []param{
			{name: "restart", kind: kindText, required: true, aliases: []alias{{name: "name"}, {name: "number"}, {name: "index"}},
				doc: "Number or name, as in 0 or USE-VALUE."},
			{name: "values", kind: kindText, aliases: []alias{{name: "value"}},
				doc: "Lisp forms, evaluated, one for each value the restart wants."},
			evaluationParam(), goOnParam(o),
		}
	},
	example:     `{"restart": "0"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run: func(ctx context.Context, r *request) (reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.InvokeRestart, Restart: strings.TrimSpace(r.textOrNumber("restart"))},
			r.textOrNumber("values"), "")
	},
}
