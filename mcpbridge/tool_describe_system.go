package mcpbridge

import (
	"context"
	"errors"

	"swank-mcp/swank/lisp"
)

var describeSystemTool = tool{
	name:  "describe-system",
	title: "Describe system",
	set:   inInspect,
	doc: "Describe an ASDF system: version, where its definition lies, whether it is loaded, its files and the tree of what it depends on. " +
		"Without a name, list the systems that can be loaded. Loads nothing.",
	params: func(limits) []param {
		return []param{
			{name: "system", kind: kindText, aliases: []alias{{name: "name"}, {name: "system-name"}},
				doc: "Its name, as in alexandria; all systems if left out."},
		}
	},
	example:    `{"system": "alexandria"}`,
	readOnly:   true,
	idempotent: true,
	run:        describeSystem,
}

func describeSystem(ctx context.Context, r *request) (reply, error) {
	name := r.text("system")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.DescribeSystem(ctx, r.session, name)
	var failed *lisp.LookupError
	if errors.As(err, &failed) {
		next := nextCall("describe-system")
		if len(failed.Names) > 0 {
			next = nextCall("describe-system", "system", failed.Names[0])
		}
		return reply{}, &lookError{failed, next}
	}
	if err != nil {
		return reply{}, err
	}
	return reply{text: foundText(found, "No system is known to ASDF.")}, nil
}
