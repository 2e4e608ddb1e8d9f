package tools

import (
	"context"

	"swank-mcp/mcpbridge/render"
)

var lastErrorTool = Tool{
	Name:  "describe-last-error",
	Title: "Describe last error",
	Set:   Debug,
	Shown: true,
	Doc: "Describe the last error, timeout or stop of an evaluation in this session: message, the condition's classes and slots, " +
		"the code, and the backtrace. Works at any time, not only right after the reply.",
	Example: `{}`,
	Effect:  debugs,
	run: func(ctx context.Context, r *Request) (Reply, error) {
		last, err := r.Session.LastError(ctx)
		if err != nil {
			return Reply{}, err
		}
		if last == nil {
			return Reply{Text: noError}, nil
		}
		return Reply{Text: render.LastError(last)}, nil
	},
}
