package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var compileFormTool = Tool{
	Name:  "compile-form",
	Title: "Compile forms",
	Set:   Build,
	Doc: "Compile Lisp forms with the file compiler and load them, showing all compiler notes " +
		"(errors, warnings, optimization notes) with line and column. " +
		"What they define stays, as after evaluate-lisp. With load false they are only checked.",
	Params: []args.Param{
		{Name: "code", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "form"}, {Name: "forms"}},
			Doc: "One or more forms."},
		loadParam, packageParam, debugParam(debugDoc),
		quietTimeout,
	},
	Example: `{"code": "(defun f (x) (declare (fixnum x)) (* x 2))"}`,
	Effect:  runsCode,
	run:     compileForm,
}

func compileForm(ctx context.Context, r *Request) (Reply, error) {
	c := lisp.Compilation{Code: r.Text("code"), NoLoad: !r.Flag("load")}
	in := r.sessionRequest()
	return r.compile(ctx, c, in)
}
