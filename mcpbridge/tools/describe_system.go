package tools

import (
	"context"

	"swank-mcp/mcpbridge/args"
)

var describeSystemTool = Tool{
	Name:  "describe-system",
	Title: "Describe system",
	Set:   Inspect,
	Doc: "Describe an ASDF system: version, where its definition lies, whether it is loaded, its files and the tree of what it depends on. " +
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
	name := r.Text("system")
	found, err := r.Session.DescribeSystem(ctx, name)
	if failed := lookupError(err); failed != nil {
		next := nextCall("describe-system")
		if len(failed.Names) > 0 {
			next = nextCall("describe-system", "system", failed.Names[0])
		}
		err = &lookError{failed, next}
	}
	return foundReply(found, err, "No system is known to ASDF.")
}
