package mcpbridge

import "context"

var listThreadsTool = tool{
	name:  "list-threads",
	title: "List threads",
	set:   inProfile,
	doc: "List the threads of the Lisp image: number, name, whose each is (the program's, a session's, Swank's), " +
		"and the lock it waits for with the thread that holds it.",
	params: func(limits) []param {
		return []param{{name: "backtraces", kind: kindFlag, aliases: []alias{{name: "backtrace"}},
			doc: "Also where those of the program and of sessions are. Default: false."}}
	},
	example:  `{"backtraces": true}`,
	readOnly: true,
	run:      listThreads,
}

func listThreads(ctx context.Context, r *request) (reply, error) {
	backtraces := r.flag("backtraces")
	if r.err != nil {
		return reply{}, r.err
	}
	f, err := r.image.Threads(ctx, r.session, backtraces)
	if err != nil {
		return reply{}, err
	}
	return reply{text: foundText(f, "")}, nil
}
