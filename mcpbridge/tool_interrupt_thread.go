package mcpbridge

import (
	"context"
	"strings"
)

var interruptThreadTool = tool{
	name:  "interrupt-thread",
	title: "Interrupt a thread",
	set:   inProfile,
	doc: "Show where a thread of the program is, or end it, by number or name as list-threads shows them. " +
		"Threads that the image or the bridge stands on are not ended; " +
		"to stop an evaluation, cancel its call or give it a shorter timeout.",
	params: func(limits) []param {
		return []param{
			{name: "thread", kind: kindText, required: true, doc: "Its number or name.", aliases: []alias{{name: "id"}, {name: "name"}}},
			{name: "action", kind: kindText, def: "backtrace", enum: []string{"backtrace", "abort"}, fold: threadAction,
				doc: "abort unwinds the thread and ends it."},
		}
	},
	example:     `{"thread": "my-thread", "action": "backtrace"}`,
	destructive: true,
	run:         interruptThread,
}

// threadAction knows other names of the actions.
func threadAction(action string) string {
	switch strings.ToLower(action) {
	case "kill", "end", "stop", "terminate", "destroy":
		return "abort"
	case "where", "show":
		return "backtrace"
	}
	return strings.ToLower(action)
}

func interruptThread(ctx context.Context, r *request) (reply, error) {
	thread, action := strings.TrimSpace(r.textOrNumber("thread")), r.text("action")
	if r.err == nil && thread == "" {
		r.fail("thread is empty; it must be the number or the name of a thread.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	f, err := r.image.InterruptThread(ctx, r.session, thread, action == "abort")
	if err != nil {
		return reply{}, threadFailed(err, action)
	}
	return reply{text: foundText(f, "")}, nil
}

// threadFailed adds the call that would work: with the number, or the list.
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
