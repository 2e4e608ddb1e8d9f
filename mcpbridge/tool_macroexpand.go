package mcpbridge

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp"
)

var macroexpandTool = tool{
	name:  "macroexpand-form",
	title: "Expand a macro",
	set:   inBuild,
	shown: true,
	doc: "Expand the macro call in a form, without evaluating it. " +
		"mode: one (the outermost macro once), full (until the form is no macro call), all (also inside), " +
		"steps (as all, showing each macro call and its expansion).",
	params: func(o limits) []param {
		return append([]param{
			{name: "form", kind: kindText, required: true, aliases: []alias{{name: "code"}, {name: "expression"}},
				doc: "The form."},
			{name: "mode", kind: kindText, def: "one", enum: []string{"one", "full", "all", "steps"}, fold: expansionMode,
				doc: "How far."},
			{name: "full", kind: kindFlag, hidden: true, doc: "Another way to say mode full."},
			{name: "all", kind: kindFlag, hidden: true, doc: "Another way to say mode all."},
			packageParam,
		}, quietTimeout(o)...)
	},
	example:    `{"form": "(when x (print y))"}`,
	idempotent: true,
	ordered:    true,
	run:        macroexpand,
}

// expansionMode knows other names of the modes.
func expansionMode(mode string) string {
	switch strings.ToLower(mode) {
	case "1", "once", "expand-1", "macroexpand-1":
		return "one"
	case "macroexpand":
		return "full"
	case "macroexpand-all", "deep", "recursive":
		return "all"
	case "step", "stepwise", "step-by-step":
		return "steps"
	}
	return mode
}

func macroexpand(ctx context.Context, r *request) (reply, error) {
	form, mode := r.text("form"), r.text("mode")
	if r.flag("full") {
		mode = "full"
	}
	if r.flag("all") {
		mode = "all"
	}
	in := r.sessionRequest()
	if r.err != nil {
		return reply{}, r.err
	}
	x, res, err := r.image.Expand(ctx, r.session, form, mode, in)
	if err != nil {
		return reply{}, err
	}
	if res.Failure != nil {
		text, _ := ResultText(res, View{Timeout: in.Timeout})
		return reply{text: text, failed: true, failure: res.Failure}, nil
	}
	return reply{text: expansionText(x, res)}, nil
}

func expansionText(x *lisp.Expansion, res *lisp.Result) string {
	var p parts
	switch {
	case len(x.Steps) > 0:
		for i, s := range x.Steps {
			p.begin()
			fmt.Fprintf(&p, "; Step %d\n%s\n; =>\n%s", i+1, textOf(s.Form), textOf(s.Expansion))
		}
		if x.More > 0 {
			fmt.Fprintf(&p, "\n\n; %s", plural(x.More, "more step"))
		}
	case x.Why != "":
		p.WriteString("; Nothing to expand: " + sanitize(x.Why) + "\n" + textOf(x.Text))
	case x.Text.Empty():
		p.WriteString("; Nothing to expand: there is no macro call in the form.")
	default:
		p.WriteString(textOf(x.Text))
	}
	p.context(res)
	return p.String()
}
