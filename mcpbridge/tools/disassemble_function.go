package tools

import (
	"swank-mcp/mcpbridge/args"
)

var disassembleTool = Tool{
	Name:  "disassemble-function",
	Title: "Disassemble a function",
	Set:   Build,
	Doc: "Show the machine code that a function, macro or the methods of a generic function were compiled to. " +
		"Evaluates nothing. What the compiler could not optimize, compile-form says.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}, {Name: "function"}},
			Doc: "foo, pkg:foo or (setf foo)."},
		lookInParam,
	},
	Example: `{"name": "identity"}`,
	Effect:  looks,
	run:     lookUp(Session.Disassemble, or("It has no methods.")),
}
