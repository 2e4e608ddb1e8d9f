package mcpbridge

import "context"

var lastErrorTool = tool{
	name:  "describe-last-error",
	title: "Describe last error",
	set:   inDebug,
	shown: true,
	doc: "Describe the last error, timeout or stop of an evaluation in this session: message, the condition's classes and slots, " +
		"the code, and the backtrace. Works after a reply has been given, too.",
	params:     func(limits) []param { return nil },
	example:    `{}`,
	readOnly:   true,
	idempotent: true,
	run: func(ctx context.Context, r *request) (reply, error) {
		last, err := r.image.LastError(ctx, r.session)
		if err != nil {
			return reply{}, err
		}
		if last == nil {
			return reply{text: noError}, nil
		}
		return reply{text: lastErrorText(last)}, nil
	},
}
