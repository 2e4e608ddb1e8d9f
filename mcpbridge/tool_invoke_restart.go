package mcpbridge

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp"
)

var invokeRestartTool = tool{
	name:  "invoke-restart",
	title: "Invoke restart",
	doc: "Let a suspended evaluation go on by one of the restarts that its reply listed. " +
		"Answers what comes of it: the original evaluation's values and all its output, or the next error.",
	params: func(o *Options) []param {
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
	run: func(b *Bridge, ctx context.Context, r *request) (reply, error) {
		return b.debug(ctx, r, &lisp.DebuggerCall{Op: lisp.InvokeRestart, Restart: strings.TrimSpace(r.textOrNumber("restart"))},
			r.textOrNumber("values"), "")
	},
}

// textOrNumber is text for arguments that may be written as numbers.
func (r *request) textOrNumber(name string) string {
	if v, _ := r.value(name); len(v) > 0 && v[0] != '"' {
		if _, ok := number(v); ok {
			return string(v)
		}
	}
	return r.text(name)
}
