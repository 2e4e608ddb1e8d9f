package mcpbridge

import (
	"context"
	"strings"
)

var crossReferenceTool = tool{
	name:  "cross-reference",
	title: "Cross-reference",
	set:   inInspect,
	shown: true,
	doc: "List what calls a function and what it calls, what references, binds or sets a variable, expands a macro, " +
		"or has methods on a class, each once, with file and line.",
	params: func(limits) []param {
		return []param{
			{name: "name", kind: kindText, required: true, aliases: []alias{{name: "symbol"}},
				doc: "foo, pkg:foo, pkg::foo or (setf foo)."},
			{name: "kind", kind: kindText, def: "all", enum: referenceKinds, fold: referenceKind, aliases: []alias{{name: "type"}, {name: "relation"}},
				doc: "Only this relation."},
			lookInParam,
			{name: "limit", hidden: true, kind: kindInteger, def: 50.0, min: 1, max: 1000, doc: "Most lines of each kind."},
		}
	},
	example:    `{"name": "*print-base*", "kind": "binds"}`,
	readOnly:   true,
	idempotent: true,
	run:        crossReference,
}

var referenceKinds = []string{"all", "calls", "called-by", "references", "binds", "sets", "macroexpands", "specializes"}

// referenceKind maps the names that other tools have for the kinds.
func referenceKind(s string) string {
	s = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "_", "-"), " ", "-"))
	switch s {
	case "callers", "who-calls", "calls-to", "usages":
		return "called-by"
	case "callees", "calls-who", "calls-from":
		return "calls"
	}
	return strings.TrimPrefix(s, "who-")
}

func crossReference(ctx context.Context, r *request) (reply, error) {
	name, kind, pkg, limit := r.named("name"), r.text("kind"), r.text("package"), r.integer("limit")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.CrossReference(ctx, r.session, name, kind, pkg, limit)
	if err != nil {
		return reply{}, r.lookupFailed(err, "name", name)
	}
	nothing := "No references are recorded."
	if kind != "all" {
		nothing = "No references of kind " + kind + " are recorded."
	}
	return reply{text: foundText(found, nothing)}, nil
}
