package tools

import (
	"swank-mcp/mcpbridge/args"
)

var findDefinitionTool = Tool{
	Name:  "find-definition",
	Title: "Find definition",
	Set:   Inspect,
	Shown: true,
	Doc: "Find where a function, macro, variable, class, type, method, package or system is defined: file, line and source text; " +
		"what this session defined is shown from the session. Nothing is read or evaluated.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}},
			Doc: "foo, pkg:foo, pkg::foo, (setf foo), a package or system."},
		lookInParam,
	},
	Example: `{"name": "mapcar"}`,
	Effect:  looks,
	run:     lookUp(Session.FindDefinition, or("The symbol exists, but the image has no record of a definition of it.")),
}
