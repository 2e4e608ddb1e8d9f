package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
)

var listThreadsTool = Tool{
	Name:  "list-threads",
	Title: "List threads",
	Set:   Profile,
	Doc: "List the threads of the Lisp image: number, name, whose each is (the program's, a session's, Swank's), " +
		"and the lock it waits for with the thread that holds it.",
	Params: []args.Param{{Name: "backtraces", Kind: args.Flag, Aliases: []args.Alias{{Name: "backtrace"}},
		Doc: "Also where those of the program and of sessions are."}},
	Example: `{"backtraces": true}`,
	Effect:  Effect{ReadOnly: true},
	run:     listThreads,
}

func listThreads(ctx context.Context, r *Request) (Reply, error) {
	backtraces := r.Flag("backtraces")
	f, err := r.Session.Threads(ctx, backtraces)
	return foundReply(f, err, "")
}
