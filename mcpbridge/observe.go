package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp"
)

// observer is the part of [Image] that watches objects, calls, time, memory
// and threads. Methods with a Result run in turn with the session's
// evaluations, the others beside them; see lisp.Image for each.
type observer interface {
	Inspect(ctx context.Context, session, code string, v lisp.View, r lisp.Request) (*lisp.Finding, *lisp.Result, error)
	InspectHandle(ctx context.Context, session, handle string, v lisp.View) (*lisp.Finding, error)
	Trace(ctx context.Context, session, code, functions string, r lisp.Request) (*lisp.Trace, *lisp.Result, error)
	SwitchTrace(ctx context.Context, session, functions, pkg string, on bool) (*lisp.Finding, error)
	Profile(ctx context.Context, session, code string, p lisp.Profiling, r lisp.Request) (*lisp.Profile, *lisp.Result, error)
	MemoryReport(ctx context.Context, session string, limit int) (*lisp.Finding, error)
	Threads(ctx context.Context, session string, backtraces bool) (*lisp.Finding, error)
	InterruptThread(ctx context.Context, session, thread string, abort bool) (*lisp.Finding, error)
}

// failedWork is the reply to work that has failed: the error, and what had
// been found out by then.
func failedWork(res *lisp.Result, v View, more string) reply {
	text, _ := ResultText(res, v)
	if more != "" {
		text += "\n\n" + more
	}
	return reply{text: text, failed: true, failure: res.Failure}
}

// nextFunctions is the call to make after names of functions were refused:
// with those that would do, or one that lists functions.
func nextFunctions(tool string, names []string, given, failure string, pairs ...string) string {
	if words := strings.Fields(given); len(names) == 0 && len(words) == 1 && failure == "SYMBOL-NOT-FOUND" {
		return nextCall("apropos-search", "pattern", words[0][strings.LastIndexByte(words[0], ':')+1:])
	} else if len(names) == 0 {
		return nextCall("list-definitions", "type", "functions")
	}
	return nextCall(tool, append([]string{"functions", names[0]}, pairs...)...)
}

// limitParam is how much of a list is shown.
func limitParam(what string, def, most float64) param {
	return param{name: "limit", kind: kindInteger, def: def, min: 1, max: most, doc: "How many " + what + " to show."}
}

// linesUnder is a heading in brackets and lines under it.
func linesUnder(heading string, lines []string) string {
	return "[" + heading + "]\n" + sanitize(strings.Join(lines, "\n"))
}

// callCounts is the line that tells how often each function was called.
func callCounts(calls []lisp.CallCount) string {
	var each []string
	for _, c := range calls {
		each = append(each, fmt.Sprintf("%s of %s", plural(int(c.Calls), "call"), sanitize(c.Function)))
	}
	return strings.Join(each, ", ")
}

// lookupError is the look-up's error in err, or nil.
func lookupError(err error) *lisp.LookupError {
	var failed *lisp.LookupError
	errors.As(err, &failed)
	return failed
}
