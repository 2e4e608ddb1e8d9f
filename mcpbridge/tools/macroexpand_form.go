package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var macroexpandTool = Tool{
	Name:  "macroexpand-form",
	Title: "Expand a macro",
	Set:   Build,
	Shown: true,
	Doc: "Expand the macro call in a form, without evaluating it. " +
		"mode: one (the outermost macro once), full (until the form is no macro call), all (also inside), " +
		"steps (as all, showing each macro call and its expansion).",
	Params: []args.Param{
		{Name: "form", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "code"}, {Name: "expression"}},
			Doc: "The form."},
		{Name: "mode", Kind: args.Text, Def: "one", Enum: []string{"one", "full", "all", "steps"}, Fold: expansionMode,
			Doc: "How far."},
		{Name: "full", Kind: args.Flag, Hidden: true, Doc: "Another way to say mode full."},
		{Name: "all", Kind: args.Flag, Hidden: true, Doc: "Another way to say mode all."},
		packageParam,
		quietTimeout,
	},
	Example: `{"form": "(when x (print y))"}`,
	Effect:  Effect{Idempotent: true, InTurn: always},
	run:     macroexpand,
}

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

func macroexpand(ctx context.Context, r *Request) (Reply, error) {
	form, mode := r.Text("form"), r.Text("mode")
	if r.Flag("full") {
		mode = "full"
	}
	if r.Flag("all") {
		mode = "all"
	}
	in := r.sessionRequest()
	x, res, err := r.Session.Expand(ctx, form, mode, in)
	if err != nil {
		return Reply{}, err
	}
	if res.Failure != nil {
		return failedWork(res, in.Timeout, ""), nil
	}
	return Reply{Text: expansionText(x, res)}, nil
}

func expansionText(x *lisp.Expansion, res *lisp.Result) string {
	var p render.Parts
	switch {
	case len(x.Steps) > 0:
		for i, s := range x.Steps {
			p.Begin()
			fmt.Fprintf(&p, "; Step %d\n%s\n; =>\n%s", i+1, render.Trimmed(s.Form), render.Trimmed(s.Expansion))
		}
		if x.More > 0 {
			fmt.Fprintf(&p, "\n\n; %s", render.Plural(x.More, "more step"))
		}
	case x.Why != "":
		p.WriteString("; Nothing to expand: " + render.Safe(x.Why) + "\n" + render.Trimmed(x.Text))
	case x.Text.Empty():
		p.WriteString("; Nothing to expand: there is no macro call in the form.")
	default:
		p.WriteString(render.Trimmed(x.Text))
	}
	p.Context(res)
	return p.String()
}
