package mcpbridge

import (
	"fmt"
	"strings"
)

// tools is every tool, in the order of the documentation.
func tools() []*tool {
	return []*tool{
		&evaluateTool,
		&listDefinitionsTool,
		&listPackagesTool,
		&loadSystemTool,
		&resetTool,
		&statusTool,
		&readOutputTool,
	}
}

// ToolTable is the table of all tools in Markdown, as the README shows it:
// name with arguments, the first sentence of the description, and what the
// tool changes. Optional arguments are in brackets.
func ToolTable() string {
	var b strings.Builder
	b.WriteString("| Tool | What it does | Changes the image |\n| --- | --- | --- |\n")
	o := Options{}
	o.setDefaults()
	for _, t := range tools() {
		var names []string
		for _, p := range t.params(&o) {
			if p.hidden {
				continue
			}
			name := "`" + p.name + "`"
			if !p.required {
				name = "[" + name + "]"
			}
			names = append(names, name)
		}
		cell := "**`" + t.name + "`**"
		if len(names) > 0 {
			cell += "<br>" + strings.Join(names, " ")
		}
		first, _, _ := strings.Cut(t.doc, ". ")
		changes := "yes"
		if t.readOnly {
			changes = "no"
		}
		fmt.Fprintf(&b, "| %s | %s. | %s |\n", cell, strings.ReplaceAll(strings.TrimSuffix(first, "."), "|", `\|`), changes)
	}
	return b.String()
}
