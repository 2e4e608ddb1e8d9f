package tools

import (
	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/hyperspec"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var describeSymbolTool = Tool{
	Name:  "describe-symbol",
	Title: "Describe symbol",
	Set:   Inspect,
	Shown: true,
	Doc: "Describe everything a name stands for: function or macro with lambda list, type and documentation, variable with its value, " +
		"class with slots, supers and subs, type, package, and where each is defined. Evaluates nothing.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}},
			Doc: "foo, pkg:foo, pkg::foo, |Foo|, (setf foo), or a package."},
		lookInParam,
	},
	Example: `{"name": "mapcar"}`,
	Effect:  looks,
	run:     lookUp(Session.DescribeSymbol, func(r *Request, found *lisp.Finding) string { return r.page(found, SymbolText) }),
}

// lookInParam is where a name without a prefix is looked for.
var lookInParam = args.Param{Name: "package", Kind: args.Text, Aliases: []args.Alias{{Name: "in-package"}},
	Doc: "Where to look; default: the session's package."}

// SymbolText shows a symbol, with the standard's page for one of its own.
func SymbolText(found *lisp.Finding) string {
	if pages := hyperspec.Symbol(found.Standard); pages != nil {
		found.Notes = append(found.Notes, "HyperSpec: "+pages[0].URL)
	}
	return render.Found(found, "It names no function, variable, class, type or package.")
}
