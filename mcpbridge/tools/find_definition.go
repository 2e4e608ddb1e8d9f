package tools

import (
	"swank-mcp/mcpbridge/args"
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
	run:        lookUp(Session.FindDefinition, or("The symbol exists, but the image has no record of a definition of it.")),
}
