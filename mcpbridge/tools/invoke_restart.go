package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var invokeRestartTool = Tool{
	Name:  "invoke-restart",
	Title: "Invoke restart",
	Set:   Debug,
	Shown: true,
	Doc: "Let a suspended evaluation go on by one of the restarts that its reply listed. " +
		"Answers what comes of it: the original evaluation's values and all its output, or the next error.",
	Params: []args.Param{
		{Name: "restart", Kind: args.Text, Required: true, OrNumber: true, Aliases: []args.Alias{{Name: "name"}, {Name: "number"}, {Name: "index"}},
			Doc: "Number or name, as in 0 or USE-VALUE."},
		{Name: "values", Kind: args.Text, OrNumber: true, Aliases: []args.Alias{{Name: "value"}},
			Doc: "Lisp forms, evaluated, one for each value the restart wants."},
		evaluationParam, goOnParam,
	},
	Example: `{"restart": "0"}`,
	Effect:  runsCode,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		return r.debug(ctx, &lisp.DebuggerCall{Op: lisp.InvokeRestart, Restart: strings.TrimSpace(r.Text("restart"))},
			r.Text("values"), "")
	},
}
