package mcpbridge

import "context"

var backtraceTool = tool{
	name:  "get-backtrace",
	title: "Get backtrace",
	set:   inDebug,
	shown: true,
	doc: "Show the backtrace of a suspended evaluation or, where none is suspended, of the last error, timeout or stop. " +
		"Keeps 100 frames; error replies show 20.",
	params: func(limits) []param {
		return []param{
			evaluationParam(),
			{name: "start", kind: kindInteger, def: 0.0, min: 0, max: maxNumber, doc: "First frame to show."},
			{name: "count", kind: kindInteger, def: 50.0, min: 1, max: 100, aliases: []alias{{name: "max-frames"}, {name: "limit"}},
				doc: "How many frames to show."},
		}
	},
	example:    `{}`,
	readOnly:   true,
	idempotent: true,
	run:        getBacktrace,
}

func getBacktrace(ctx context.Context, r *request) (reply, error) {
	number, start, count := int(r.optional("evaluation")), r.integer("start"), r.integer("count")
	if r.err != nil {
		return reply{}, r.err
	}
	trace, err := r.image.Backtrace(ctx, r.session, number)
	if err != nil {
		return reply{}, err
	}
	if trace == nil {
		return reply{text: noError}, nil
	}
	return reply{text: backtraceText(trace, start, count)}, nil
}

const noError = "There has been no error in this session."
