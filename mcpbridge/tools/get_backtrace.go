package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
)

var backtraceTool = Tool{
	Name:  "get-backtrace",
	Title: "Get backtrace",
	Set:   Debug,
	Shown: true,
	Doc: "Show the backtrace of a suspended evaluation or, where none is suspended, of the last error, timeout or stop. " +
		"Keeps 100 frames; error replies show 20.",
	Params: []args.Param{
		evaluationParam,
		{Name: "start", Kind: args.Integer, Def: 0.0, Min: 0, Max: maxNumber, Doc: "First frame to show."},
		{Name: "count", Kind: args.Integer, Def: 50.0, Min: 1, Max: 100, Aliases: []args.Alias{{Name: "max-frames"}, {Name: "limit"}},
			Doc: "How many frames to show."},
	},
	Example: `{}`,
	Effect:  debugs,
	run:     getBacktrace,
}

func getBacktrace(ctx context.Context, r *Request) (Reply, error) {
	number, start, count := r.Integer("evaluation"), r.Integer("start"), r.Integer("count")
	trace, err := r.Session.Backtrace(ctx, number)
	if err != nil {
		return Reply{}, err
	}
	if trace == nil {
		return Reply{Text: noError}, nil
	}
	return Reply{Text: render.Backtrace(trace, start, count)}, nil
}

const noError = "There has been no error in this session."
