package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/args"
)

var interruptThreadTool = Tool{
	Name:  "interrupt-thread",
	Title: "Interrupt a thread",
	Set:   Profile,
	Doc: "Show where a thread of the program is, or end it, by number or name as list-threads shows them. " +
		"Threads that the image or the bridge needs are not ended; " +
		"to stop an evaluation, cancel its call or give it a shorter timeout.",
	Params: []args.Param{
		{Name: "thread", Kind: args.Text, Required: true, OrNumber: true, Doc: "Its number or name.", Aliases: []args.Alias{{Name: "id"}, {Name: "name"}}},
		{Name: "action", Kind: args.Text, Def: "backtrace", Enum: []string{"backtrace", "abort"}, Fold: threadAction,
			Doc: "abort unwinds the thread and ends it."},
	},
	Example: `{"thread": "my-thread", "action": "backtrace"}`,
	Effect:  Effect{Destructive: true},
	run:     interruptThread,
}

func threadAction(action string) string {
	switch strings.ToLower(action) {
	case "kill", "end", "stop", "terminate", "destroy":
		return "abort"
	case "where", "show":
		return "backtrace"
	}
	return strings.ToLower(action)
}

func interruptThread(ctx context.Context, r *Request) (Reply, error) {
	thread, action := strings.TrimSpace(r.Text("thread")), r.Text("action")
	if thread == "" {
		return Reply{}, r.Fail("thread is empty; it must be the number or the name of a thread.")
	}
	f, err := r.Session.InterruptThread(ctx, thread, action == "abort")
	return foundReply(f, threadFailed(err, action), "")
}

// threadFailed adds the call that would work: with the number of a thread, or list-threads.
func threadFailed(err error, action string) error {
	failed := lookupError(err)
	switch {
	case failed == nil:
		return err
	case len(failed.Names) > 0:
		return &lookError{failed, nextCall("interrupt-thread", "thread", failed.Names[0], "action", action)}
	}
	return &lookError{failed, "Next: list-threads {}"}
}
