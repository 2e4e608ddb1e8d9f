package mcpbridge

import "context"

var findDefinitionTool = tool{
	name:  "find-definition",
	title: "Find definition",
	set:   inInspect,
	shown: true,
	doc: "Find where a function, macro, variable, class, type, method or package is defined: file, line and source text; " +
		"what this session defined is shown from the session. Nothing is read or evaluated.",
	params: func(limits) []param {
		return []param{
			{name: "name", kind: kindText, required: true, aliases: []alias{{name: "symbol"}},
				doc: "foo, pkg:foo, pkg::foo, (setf foo), or a package."},
			lookInParam,
		}
	},
	example:    `{"name": "mapcar"}`,
	readOnly:   true,
	idempotent: true,
	run:        findDefinition,
}

func findDefinition(ctx context.Context, r *request) (reply, error) {
	name, pkg := r.named("name"), r.text("package")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.FindDefinition(ctx, r.session, name, pkg)
	if err != nil {
		return reply{}, r.lookupFailed(err, "name", name)
	}
	return reply{text: foundText(found, "The symbol exists, but the image has no record of a definition of it.")}, nil
}
