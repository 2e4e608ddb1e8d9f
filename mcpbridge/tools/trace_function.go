package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var traceFunctionTool = Tool{
	Name:  "trace-function",
	Title: "Trace functions",
	Set:   Profile,
	Shown: true,
	Doc: "Evaluate a form and show each call of some functions during it: arguments, values, nesting. " +
		"Without code, switch tracing on or off for later evaluations, which then show the calls under [stderr]. " +
		"Traces made with trace are left alone.",
	Params: []args.Param{
		{Name: "functions", Kind: args.Text, Doc: "Names, separated by blanks: foo my-pkg:bar (setf baz).",
			Aliases: []args.Alias{{Name: "function"}, {Name: "name"}, {Name: "names"}, {Name: "symbol"}}},
		{Name: "code", Kind: args.Text, Doc: "The form.", Aliases: []args.Alias{{Name: "form"}}},
		{Name: "action", Kind: args.Text, Def: "on", Enum: []string{"on", "off"}, Fold: strings.ToLower,
			Doc: "Without code: on or off; off without functions is for all."},
		{Name: "package", Kind: args.Text, Hidden: true, Doc: "Package of the names and the code."},
		quietTimeout,
	},
	Example: `{"functions": "my-function", "code": "(my-function 1)"}`,
	Effect:  Effect{Destructive: true, OpenWorld: true, InTurn: withCode},
	run:     traceFunction,
}

func traceFunction(ctx context.Context, r *Request) (Reply, error) {
	functions, code, action := strings.TrimSpace(r.Text("functions")), r.Text("code"), r.Text("action")
	in := r.sessionRequest()
	once := strings.TrimSpace(code) != ""
	if functions == "" && (once || action == "on") {
		return Reply{}, r.Fail("functions is empty; it must name at least one function.")
	}
	if once && action == "off" {
		return Reply{}, r.Fail("action off takes no code: with code the trace ends by itself.")
	}
	if !once {
		f, err := r.Session.SwitchTrace(ctx, functions, in.Package, action == "on")
		if failed := lookupError(err); failed != nil {
			err = &lookError{failed, nextFunctions("trace-function", failed.Names, functions, failed.Type, "action", action)}
		}
		return foundReply(f, err, "")
	}
	t, res, err := r.Session.Trace(ctx, code, functions, in)
	if err != nil {
		return Reply{}, err
	}
	text := traceText(t)
	if text == "" && res.Failure != nil && len(res.Failure.Frames) == 0 { // refused before it ran
		text = nextFunctions("trace-function", t.Names, functions, res.Failure.Type, "code", code)
	}
	if res.Failure != nil {
		return failedWork(res, in.Timeout, text), nil
	}
	rest, _ := render.Result(res, render.View{Timeout: in.Timeout})
	return Reply{Text: text + "\n\n" + rest}, nil
}

// traceText is the recorded calls; "" if no function was traced.
func traceText(t *lisp.Trace) string {
	if len(t.Calls) == 0 {
		return ""
	}
	here, others := int64(0), int64(0)
	var each []string
	for _, c := range t.Calls {
		here, others = here+c.Calls, others+c.Others
		count := fmt.Sprintf("%s of %s", render.Plural(int(c.Calls+c.Others), "call"), render.Safe(c.Function))
		if c.Others > 0 {
			count += fmt.Sprintf(" (%s on other threads)", render.Count(c.Others))
		}
		each = append(each, count)
	}
	text := "[trace]"
	if len(t.Lines) > 0 {
		text = render.Lines("trace", t.Lines)
	}
	text += "\n; " + strings.Join(each, ", ")
	switch {
	case here+others == 0:
		text += " on any thread while the form ran; calls that were compiled inline are not seen"
	case t.Shown < here:
		text += "; the first " + render.Count(t.Shown) + " are shown"
	}
	if others > 0 {
		text += "\n; On other threads, also those that the form has not started, calls are counted while it runs, and not shown."
	}
	return text
}
