package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
)

var disassembleTool = Tool{
	Name:  "disassemble-function",
	Title: "Disassemble a function",
	Set:   Build,
	Doc: "Show the machine code that a function, macro or the methods of a generic function were compiled to. " +
		"Evaluates nothing. What the compiler could not optimize, compile-form says.",
	Params: func(Limits) []args.Param {
		return []args.Param{
			{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}, {Name: "function"}},
				Doc: "foo, pkg:foo or (setf foo)."},
			lookInParam,
		}
	},
	Example:    `{"name": "identity"}`,
	ReadOnly:   true,
	Idempotent: true,
	run:        disassemble,
}

func disassemble(ctx context.Context, r *Request) (Reply, error) {
	name, pkg := r.Named("name"), r.Text("package")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	found, err := r.Session.Disassemble(ctx, name, pkg)
	if err != nil {
		return Reply{}, r.lookupFailed(err, "name", name)
	}
	return Reply{Text: render.Found(found, "It has no methods.")}, nil
}
