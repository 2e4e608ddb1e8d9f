package mcpbridge

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
	"swank-mcp/mcpbridge/tools"
)

// TestOverviewOfTheTools holds the table at the top of docs/reference/tools.md equal
// to the tools.
func TestOverviewOfTheTools(t *testing.T) {
	pagetest.Check(t, inTree("docs/reference/tools.md"), "overview", *update, func(string) string { return toolTable() })
}

// toolTable is the table of all tools in Markdown: name with arguments, the first sentence of the description, the toolset, in
// brackets where the tool is not shown by default, and what the tool changes.
// Optional arguments are in brackets.
func toolTable() string {
	var b strings.Builder
	b.WriteString("| Tool | What it does | Toolset | Changes the image |\n| --- | --- | --- | --- |\n")
	o := Options{}
	o.setDefaults()
	for _, t := range tools.All() {
		var names []string
		for _, p := range t.Spec(o.limits()).Params {
			if p.Hidden {
				continue
			}
			name := "`" + p.Name + "`"
			if !p.Required {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		cell := "[**`" + t.Name + "`**](#" + t.Name + ")"
		if len(names) > 0 {
			cell += "<br>" + strings.Join(names, " ")
		}
		first, _, _ := strings.Cut(t.Doc, ". ")
		changes := "yes"
		if t.ReadOnly {
			changes = "no"
		}
		set := string(t.Set)
		if !t.Shown {
			set = "(" + set + ")"
		}
		fmt.Fprintf(&b, "| %s | %s. | %s | %s |\n", cell, strings.ReplaceAll(strings.TrimSuffix(first, "."), "|", `\|`), set, changes)
	}
	return b.String()
}
