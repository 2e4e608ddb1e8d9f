package mcpbridge

import (
	"context"

	"swank-mcp/mcpbridge/hyperspec"
	"swank-mcp/swank/lisp"
)

var describeSymbolTool = tool{
	name:  "describe-symbol",
	title: "Describe symbol",
	set:   inInspect,
	shown: true,
	doc: "Describe everything a name stands for: function or macro with lambda list, type and documentation, variable with its value, " +
		"class with slots, supers and subs, type, package, and where each is defined. Evaluates nothing.",
	params: func(limits) []param {
		return []param{
			{name: "name", kind: kindText, required: true, aliases: []alias{{name: "symbol"}},
				doc: "foo, pkg:foo, pkg::foo, |Foo|, (setf foo), or a package."},
			lookInParam,
		}
	},
	example:    `{"name": "mapcar"}`,
	readOnly:   true,
	idempotent: true,
	run:        describeSymbol,
}

// lookInParam is where a name without a prefix is looked for.
var lookInParam = param{name: "package", kind: kindText, aliases: []alias{{name: "in-package"}},
	doc: "Where to look; default: the session's package."}

func describeSymbol(ctx context.Context, r *request) (reply, error) {
	name, pkg := r.named("name"), r.text("package")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.DescribeSymbol(ctx, r.session, name, pkg)
	if err != nil {
		return reply{}, r.lookupFailed(err, "name", name)
	}
	return reply{text: describedText(found)}, nil
}

// describedText shows a symbol, with the standard's page for one of its own.
func describedText(found *lisp.Finding) string {
	if pages := hyperspec.Symbol(found.Standard); pages != nil {
		found.Notes = append(found.Notes, "HyperSpec: "+pages[0].URL)
	}
	return foundText(found, "It names no function, variable, class, type or package.")
}
