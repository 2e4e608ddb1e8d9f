package tools

import (
	"context"
	"fmt"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/hyperspec"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/render"
)

var hyperspecTool = Tool{
	Name:  "hyperspec-lookup",
	Title: "Look up in the HyperSpec",
	Set:   Inspect,
	Doc: "Tell where the Common Lisp HyperSpec, the standard's text, describes a standard symbol, a FORMAT directive or a macro character: " +
		"its pages' URLs, and its entries in the permuted index. A part of a name lists the symbols that have it.",
	Params: []args.Param{
		{Name: "name", Kind: args.Text, Required: true, Aliases: []args.Alias{{Name: "symbol"}, {Name: "query"}, {Name: "term"}},
			Doc: "A symbol such as mapcar, a directive such as ~a, characters such as #', or a word such as hash."},
	},
	Example: `{"name": "multiple-value-bind"}`,
	Effect:  looks,
	run:     hyperspecLookup,
}

func hyperspecLookup(_ context.Context, r *Request) (Reply, error) {
	given := r.Named("name")
	if r.Err != nil {
		return Reply{}, r.Err
	}
	if pages := hyperspec.Syntax(given); pages != nil {
		return Reply{Text: pagesText(given, pages)}, nil
	}
	name := standardName(given)
	if name == "" {
		name = given
	}
	if pages := hyperspec.Symbol(name); pages != nil {
		text := pagesText(strings.ToUpper(name), pages)
		return Reply{Text: text + "\nPermuted index: " + strings.Join(hyperspec.Permuted(name), " ")}, nil
	}
	if names := hyperspec.Word(name); names != nil {
		return Reply{Text: fmt.Sprintf("%s is no symbol of COMMON-LISP, but a part of:\n%s", strings.ToUpper(name), strings.Join(names, " "))}, nil
	}
	near := args.Misspelled(strings.ToUpper(name), hyperspec.Symbols())
	next := nextCall("apropos-search", "pattern", bareName(given))
	problem := fmt.Sprintf("%q is not in the HyperSpec's index of symbols, of FORMAT directives or of macro characters.", rawtext.Clip(given, 100))
	if near != "" {
		problem += " Nearest: " + near + "."
		next = nextCall("hyperspec-lookup", "name", near)
	}
	if c := name[0]; c < 0x80 {
		problem += " If it is a word of the standard's own, its glossary is at " + hyperspec.Glossary(name)
	}
	return Reply{Text: render.Error("NOT-IN-HYPERSPEC", problem, next), Failed: true}, nil
}

// standardName is name without quotes and without the prefix of COMMON-LISP.
func standardName(name string) string {
	name = strings.TrimPrefix(strings.TrimLeft(name, "'"), "#'")
	if rest, ok := strings.CutPrefix(strings.ToLower(name), "(setf "); ok {
		name = strings.TrimRight(rest, ") ")
	}
	prefix, rest, ok := strings.Cut(name, ":")
	if ok && rest != "" && (strings.EqualFold(prefix, "cl") || strings.EqualFold(prefix, "common-lisp")) {
		return strings.TrimPrefix(rest, ":")
	}
	return name
}

// pagesText lists pages: kind, what else is on the page, URL.
func pagesText(name string, pages []hyperspec.Page) string {
	lines := []string{render.Safe(name)}
	for _, p := range pages {
		line := p.Kind + ": " + p.URL
		if len(p.Names) > 1 {
			var others []string
			for _, n := range p.Names {
				if n != name {
					others = append(others, n)
				}
			}
			line += "\n  with " + strings.Join(others, " ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}
