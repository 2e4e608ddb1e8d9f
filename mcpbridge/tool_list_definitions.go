package mcpbridge

import (
	"context"
	"slices"
	"strings"

	"swank-mcp/swank/lisp"
)

var listDefinitionsTool = tool{
	name:  "list-definitions",
	title: "List definitions",
	set:   inCore,
	shown: true,
	doc: "List what this session has defined and is still defined: functions with their lambda lists, variables with their values, " +
		"macros, classes, methods, packages, and the systems it has loaded. " +
		"Not what a loaded system or somebody else defined. Works at once, also while an evaluation runs.",
	params: func(limits) []param {
		return []param{
			{name: "type", kind: kindText, def: "all", enum: definitionTypes(), fold: singular,
				doc: "Only this kind."},
			{name: "package", kind: kindText,
				doc: "Only names of this package."},
		}
	},
	example:    `{"type": "functions"}`,
	readOnly:   true,
	idempotent: true,
	run:        listDefinitions,
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
	s = strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "_", "-"), " ", "-"))
	for _, t := range definitionTypes() {
		if s+"s" == t || s+"es" == t {
			return t
		}
	}
	return s
}

func listDefinitions(ctx context.Context, r *request) (reply, error) {
	kind, pkg := r.text("type"), r.text("package")
	if r.err != nil {
		return reply{}, r.err
	}
	found, err := r.image.Definitions(ctx, r.session, pkg)
	if err != nil {
		return reply{}, err
	}
	if len(found) == 1 && found[0].Name == "unknown-package" {
		return reply{text: "No user definitions: " + sanitize(strings.Join(found[0].Lines, "\n"))}, nil
	}
	if text := definitionsText(found, kind); text != "" {
		return reply{text: text}, nil
	}
	return reply{text: "No user definitions."}, nil
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
			items[i] = "  - " + sanitize(rest)
		} else {
			items[i] = "- " + sanitize(l)
		}
	}
	return strings.Join(items, "\n")
}
