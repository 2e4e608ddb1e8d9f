package tools

import (
	"context"
	"slices"
	"strings"

	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/render"
	"swank-mcp/swank/lisp"
)

var listDefinitionsTool = Tool{
	Name:  "list-definitions",
	Title: "List definitions",
	Set:   Core,
	Shown: true,
	Doc: "List what this session has defined, and still has: functions with their lambda lists, variables with their values, " +
		"macros, classes, methods, packages, and the systems it has loaded. " +
		"Not what loaded systems define.",
	Params: []args.Param{
		{Name: "type", Kind: args.Text, Def: "all", Enum: definitionTypes(), Fold: singular,
			Doc: "Only this kind."},
		{Name: "package", Kind: args.Text,
			Doc: "Only names of this package."},
	},
	Example: `{"type": "functions"}`,
	Effect:  looks,
	run:     listDefinitions,
}

// sections are the kinds of definitions, in the order of the contract.
var sections = []struct{ name, title string }{
	{"functions", "Functions"},
	{"variables", "Variables"},
	{"macros", "Macros"},
	{"classes", "Classes"},
	{"loaded-systems", "Loaded Systems"},
	{"generic-functions", "Generic Functions"},
	{"structures", "Structures"},
	{"conditions", "Conditions"},
	{"types", "Types"},
	{"constants", "Constants"},
	{"packages", "Packages"},
	{"symbol-macros", "Symbol Macros"},
	{"setf-functions", "Setf Functions"},
	{"compiler-macros", "Compiler Macros"},
}

func definitionTypes() []string {
	types := []string{"all"}
	for _, s := range sections {
		types = append(types, strings.Replace(s.name, "loaded-", "", 1))
	}
	return types
}

// singular maps class to classes, Function to functions.
func singular(s string) string {
	s = hyphened(s)
	for _, t := range definitionTypes() {
		if s+"s" == t || s+"es" == t {
			return t
		}
	}
	return s
}

func listDefinitions(ctx context.Context, r *Request) (Reply, error) {
	kind, pkg := r.Text("type"), r.Text("package")
	found, err := r.Session.Definitions(ctx, pkg)
	if err != nil {
		return Reply{}, err
	}
	if len(found) == 1 && found[0].Name == "unknown-package" {
		return Reply{Text: "No user definitions: " + render.Safe(strings.Join(found[0].Lines, "\n"))}, nil
	}
	if text := definitionsText(found, kind); text != "" {
		return Reply{Text: text}, nil
	}
	return Reply{Text: "No user definitions."}, nil
}

// definitionsText shows the sections of one kind, or of all, in the contract's order.
func definitionsText(found []lisp.Section, kind string) string {
	var out []string
	for _, s := range sections {
		if kind != "all" && kind != strings.Replace(s.name, "loaded-", "", 1) {
			continue
		}
		i := slices.IndexFunc(found, func(f lisp.Section) bool { return f.Name == s.name })
		if i < 0 {
			continue
		}
		out = append(out, "["+s.title+"]\n"+itemLines(found[i].Lines))
	}
	return strings.Join(out, "\n\n")
}

// itemLines makes an item of each line; those of methods stay under theirs.
func itemLines(lines []string) string {
	items := make([]string, len(lines))
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "  "); ok {
			items[i] = "  - " + render.Safe(rest)
		} else {
			items[i] = "- " + render.Safe(l)
		}
	}
	return strings.Join(items, "\n")
}
