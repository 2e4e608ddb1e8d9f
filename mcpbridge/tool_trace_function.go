package mcpbridge

import (
	"context"
	"strings"

	"swank-mcp/swank/lisp"
)

var traceFunctionTool = tool{
	name:  "trace-function",
	title: "Trace functions",
	set:   inProfile,
	shown: true,
	doc: "Evaluate a form and show each call of some functions during it: arguments, values, nesting. " +
		"Without code, switch tracing on or off for later evaluations, which then show the calls under [stderr]. " +
		"Traces made with trace are left alone.",
	params: func(o limits) []param {
		return append([]param{
			{name: "functions", kind: kindText, doc: "Names, with blanks between: foo my-pkg:bar (setf baz).",
				aliases: []alias{{name: "function"}, {name: "name"}, {name: "names"}, {name: "symbol"}}},
			{name: "code", kind: kindText, doc: "The form.", aliases: []alias{{name: "form"}}},
			{name: "action", kind: kindText, def: "on", enum: []string{"on", "off"}, fold: strings.ToLower,
				doc: "Without code; off without functions: all."},
			{name: "package", kind: kindText, hidden: true, doc: "Package of the names and the code."},
		}, quietTimeout(o)...)
	},
	example:     `{"functions": "my-function", "code": "(my-function 1)"}`,
	destructive: true,
	openWorld:   true,
	ordered:     true,
	run:         traceFunction,
}

func traceFunction(ctx context.Context, r *request) (reply, error) {
	functions, code, action := strings.TrimSpace(r.text("functions")), r.text("code"), r.text("action")
	in := r.sessionRequest()
	once := strings.TrimSpace(code) != ""
	if r.err == nil && functions == "" && (once || action == "on") {
		r.fail("functions is empty; it must name at least one function.")
	}
	if r.err == nil && once && action == "off" {
		r.fail("action off takes no code: with code the trace ends by itself.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	if !once {
		r.admit()
		f, err := r.image.SwitchTrace(ctx, r.session, functions, in.Package, action == "on")
		if failed := lookupError(err); failed != nil {
			return reply{}, &lookError{failed, nextFunctions("trace-function", failed.Names, functions, failed.Type, "action", action)}
		}
		if err != nil {
			return reply{}, err
		}
		return reply{text: foundText(f, "")}, nil
	}
	t, res, err := r.image.Trace(ctx, r.session, code, functions, in)
	if err != nil {
		return reply{}, err
	}
	text := traceText(t)
	if text == "" && res.Failure != nil && len(res.Failure.Frames) == 0 { // refused before it ran
		text = nextFunctions("trace-function", t.Names, functions, res.Failure.Type, "code", code)
	}
	if res.Failure != nil {
		return failedWork(res, View{Timeout: in.Timeout}, text), nil
	}
	rest, _ := ResultText(res, View{Timeout: in.Timeout})
	return reply{text: text + "\n\n" + rest}, nil
}

// traceText is what was recorded; "" if nothing was to be.
func traceText(t *lisp.Trace) string {
	if len(t.Calls) == 0 {
		return ""
	}
	all := int64(0)
	for _, c := range t.Calls {
		all += c.Calls
	}
	text := "[trace]"
	if len(t.Lines) > 0 {
		text = linesUnder("trace", t.Lines)
	}
	text += "\n; " + callCounts(t.Calls)
	switch {
	case all == 0:
		text += " on this thread; calls that were compiled inline are not seen"
	case t.Shown < all:
		text += "; the first " + count(t.Shown) + " are shown"
	}
	return text
}
