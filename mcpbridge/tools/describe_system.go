package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var describeSystemTool = Tool{
	Name:  "describe-system",
	Title: "Describe system",
	Set:   Inspect,
	Doc: "Describe an ASDF system: version, definition, README, what it exports by kind, calls in its tests, its files and what it depends on. " +
		"Without a name, list the systems that can be loaded. Loads nothing.",
	Params: []args.Param{
		{Name: "system", Kind: args.Text, Aliases: []args.Alias{{Name: "name"}, {Name: "system-name"}},
			Doc: "Its name, as in alexandria; all systems if left out."},
	},
	Example: `{"system": "alexandria"}`,
	Effect:  looks,
	run:     describeSystem,
}

func describeSystem(ctx context.Context, r *Request) (Reply, error) {
	name := r.systemName()
	found, err := r.Session.DescribeSystem(ctx, name)
	if failed := lookupError(err); failed != nil {
		next := nextCall("describe-system")
		if len(failed.Names) > 0 {
			next = nextCall("describe-system", "system", failed.Names[0])
		}
		err = &lookError{failed, next}
	}
	if err != nil {
		return Reply{}, err
	}
	return Reply{Text: r.page(found, func(f *lisp.Finding) string { return render.Found(f, "No system is known to ASDF.") })}, nil
}
