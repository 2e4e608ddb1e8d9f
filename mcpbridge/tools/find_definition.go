package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
)

var findDefinitionTool = Tool{
	Name:  "find-definition",
	Title: "Find definition",
	Set:   Inspect,
	Shown: true,
	Doc: "Find where a function, macro, variable, class, type, method or package is defined: file, line and source text; " +
		"what this session defined is shown from the session. Nothing is read or evaluated.",
	Params: func(Limits) []args.Param {
		return []args.Param{
			{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}},
				Doc: "foo, pkg:foo, pkg::foo, (setf foo), or a package."},
			lookInParam,
		}
	},
	Example:    `{"name": "mapcar"}`,
	ReadOnly:   true,
	Idempotent: true,
	run:        findDefinition,
}

func findDefinition(ctx context.Context, r *Request) (Reply, error) {
	name, pkg := r.Named("name"), r.Text("package")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	found, err := r.Session.FindDefinition(ctx, name, pkg)
	if err != nil {
		return Reply{}, r.lookupFailed(err, "name", name)
	}
	return Reply{Text: render.Found(found, "The symbol exists, but the image has no record of a definition of it.")}, nil
}
