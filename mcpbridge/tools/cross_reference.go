package tools

import (
	"context"
	"strings"

	"swank-mcp/mcpbridge/args"
)

var crossReferenceTool = Tool{
	Name:  "cross-reference",
	Title: "Cross-reference",
	Set:   Inspect,
	Shown: true,
	Doc: "List what calls a function and what it calls, what references, binds or sets a variable, expands a macro, " +
		"or has methods on a class, each once, with file and line.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}},
			Doc: "foo, pkg:foo, pkg::foo or (setf foo)."},
		{Name: "kind", Kind: args.Text, Def: "all", Enum: referenceKinds, Fold: referenceKind, Aliases: []args.Alias{{Name: "type"}, {Name: "relation"}},
			Doc: "Only this relation."},
		lookInParam,
		{Name: "limit", Hidden: true, Kind: args.Integer, Def: 50.0, Min: 1, Max: 1000, Doc: "Most lines of each kind."},
	},
	Example: `{"name": "*print-base*", "kind": "binds"}`,
	Effect:  looks,
	run:     crossReference,
}

var referenceKinds = []string{"all", "calls", "called-by", "references", "binds", "sets", "macroexpands", "specializes"}

// referenceKind maps the names that other tools have for the kinds.
func referenceKind(s string) string {
	switch s = hyphened(s); s {
	case "callers", "who-calls", "calls-to", "usages":
		return "called-by"
	case "callees", "calls-who", "calls-from":
		return "calls"
	}
	return strings.TrimPrefix(s, "who-")
}

func crossReference(ctx context.Context, r *Request) (Reply, error) {
	name, kind, pkg, limit := r.Named("name"), r.Text("kind"), r.Text("package"), r.Integer("limit")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	found, err := r.Session.CrossReference(ctx, name, kind, pkg, limit)
	nothing := "No references are recorded."
	if kind != "all" {
		nothing = "No references of kind " + kind + " are recorded."
	}
	return foundReply(found, r.lookupFailed(err, "name", name), nothing)
}
