package mcpbridge

import "context"

var disassembleTool = tool{
	name:  "disassemble-function",
	title: "Disassemble a function",
	set:   inBuild,
	doc: "Show the machine code that a function, macro or the methods of a generic function were compiled to. " +
		"Evaluates nothing. What the compiler could not optimize, compile-form says.",
	params: func(limits) []param {
		return []param{
			{name: "name", kind: kindText, required: true, aliases: []alias{{name: "symbol"}, {name: "function"}},
				doc: "foo, pkg:foo or (setf foo)."},
			lookInParam,
		}
	},
	example:    `{"name": "identity"}`,
	readOnly:   true,
	idempotent: true,
	run:        disassemble,
}

func disassemble(ctx context.Context, r *request) (reply, error) {
	name, pkg := r.named("name"), r.text("package")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.Disassemble(ctx, r.session, name, pkg)
	if err != nil {
		return reply{}, r.lookupFailed(err, "name", name)
	}
	return reply{text: foundText(found, "It has no methods.")}, nil
}
