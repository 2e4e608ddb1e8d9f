package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/swank/lisp"
)

var aproposSearchTool = Tool{
	Name:  "apropos-search",
	Title: "Search for symbols",
	Set:   Inspect,
	Shown: true,
	Doc: "Find symbols by part of their name or documentation, in all packages or one, the likeliest first, each with kind, " +
		"lambda list and the beginning of its documentation.",
	Params: []args.Param{
		{Name: "pattern", Kind: args.Text, Aliases: []args.Alias{{Name: "query"}, {Name: "name"}, {Name: "string"}},
			Doc: "Part of a name, any case; several words must all be in it. Without it: what the package exports."},
		{Name: "package", Kind: args.Text, Doc: "Only this package, internal symbols too."},
		{Name: "kind", Kind: args.Text, Def: "all", Enum: aproposKinds, Fold: singularKind, Aliases: []args.Alias{{Name: "type"}},
			Doc: "Only what names this."},
		{Name: "limit", Hidden: true, Kind: args.Integer, Def: 40.0, Min: 1, Max: 500, Aliases: []args.Alias{{Name: "max-results"}}, Doc: "Most symbols to show."},
	},
	Example: `{"pattern": "hash table", "kind": "function"}`,
	Effect:  looks,
	run:     aproposSearch,
}

var aproposKinds = []string{"all", "function", "generic-function", "macro", "variable", "constant", "class", "type"}

// singularKind maps Functions to function, generic_function to generic-function.
func singularKind(s string) string {
	s = hyphened(s)
	for _, k := range aproposKinds {
		if s == k+"s" || s == k+"es" {
			return k
		}
	}
	return s
}

func aproposSearch(ctx context.Context, r *Request) (Reply, error) {
	q := lisp.AproposQuery{Pattern: r.Text("pattern"), Package: r.Text("package"), Kind: r.Text("kind"), Limit: r.Integer("limit")}
	q.ExternalsOnly = !r.Has("pattern")
	if q.Package == "" && q.ExternalsOnly {
		return Reply{}, r.Fail("pattern or package is missing: a part of a name, or a package whose exported symbols to list.")
	}
	if q.Package == "" && strings.Trim(q.Pattern, " :\t\n") == "" {
		return Reply{}, r.Fail("pattern is empty; it must be part of a name. With a package it may be empty.")
	}
	if q.Kind == "all" {
		q.Kind = ""
	}
	found, err := r.Session.Apropos(ctx, q)
	nothing := "A shorter part of the name may find more."
	if q.Kind != "" {
		nothing = fmt.Sprintf("Without kind %s there may be more.", q.Kind)
	}
	return foundReply(found, r.lookupFailed(err, "pattern", q.Pattern), nothing)
}
