package mcpbridge

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/swank/lisp"
)

var aproposSearchTool = tool{
	name:  "apropos-search",
	title: "Search for symbols",
	set:   inInspect,
	shown: true,
	doc: "Find symbols by part of their name, in all packages or one, the likeliest first, each with kind, " +
		"lambda list and the beginning of its documentation.",
	params: func(limits) []param {
		return []param{
			{name: "pattern", kind: kindText, required: true, aliases: []alias{{name: "query"}, {name: "name"}, {name: "string"}},
				doc: "Part of a name, any case; several words must all be in it; empty for all of a package."},
			{name: "package", kind: kindText, doc: "Only this package, internal symbols too."},
			{name: "kind", kind: kindText, def: "all", enum: aproposKinds, fold: singularKind, aliases: []alias{{name: "type"}},
				doc: "Only what names this."},
			{name: "limit", hidden: true, kind: kindInteger, def: 40.0, min: 1, max: 500, aliases: []alias{{name: "max-results"}}, doc: "Most symbols to show."},
		}
	},
	example:    `{"pattern": "hash table", "kind": "function"}`,
	readOnly:   true,
	idempotent: true,
	run:        aproposSearch,
}

var aproposKinds = []string{"all", "function", "generic-function", "macro", "variable", "constant", "class", "type"}

// singularKind maps Functions to function, generic_function to generic-function.
func singularKind(s string) string {
	s = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "_", "-"), " ", "-"))
	for _, k := range aproposKinds {
		if s == k+"s" || s == k+"es" {
			return k
		}
	}
	return s
}

func aproposSearch(ctx context.Context, r *request) (reply, error) {
	q := lisp.AproposQuery{Pattern: r.text("pattern"), Package: r.text("package"), Kind: r.text("kind"), Limit: r.integer("limit")}
	if r.err == nil && q.Package == "" && strings.Trim(q.Pattern, " :\t\n") == "" {
		r.fail("pattern is empty; it must be part of a name. With a package it may be empty.")
	}
	if r.err != nil {
		return reply{}, r.err
	}
	if q.Kind == "all" {
		q.Kind = ""
	}
	found, err := r.image.Apropos(ctx, r.session, q)
	if err != nil {
		return reply{}, r.lookupFailed(err, "pattern", q.Pattern)
	}
	nothing := "A shorter part of the name may find more."
	if q.Kind != "" {
		nothing = fmt.Sprintf("Without kind %s there may be more.", q.Kind)
	}
	return reply{text: foundText(found, nothing)}, nil
}
