package mcpbridge

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
)

// TestReferenceOfTheTools holds docs/reference/tools.md equal to the tools.
// What stands there between <!-- example --> marks is written by hand, kept by
// -update, and run by TestDocs in e2e.
func TestReferenceOfTheTools(t *testing.T) {
	pagetest.Check(t, "../docs/reference/tools.md", "tools", *update, func(is string) string { return reference(examples(is)) })
}

var exampleOf = regexp.MustCompile(`(?s)<!-- example of ([a-z-]+) -->\n(.*?)<!-- /example -->`)

// examples are the texts between the marks, by the tool's name.
func examples(page string) map[string]string {
	m := map[string]string{}
	for _, found := range exampleOf.FindAllStringSubmatch(page, -1) {
		m[found[1]] = found[2]
	}
	return m
}

// reference describes every tool, by toolset, in the order of the list.
func reference(examples map[string]string) string {
	var b strings.Builder
	o := Options{}
	o.setDefaults()
	for _, set := range toolsets {
		first := true
		for _, tl := range tools() {
			if tl.set != set.Name {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n## Toolset `%s`: %s\n", set.Name, set.About)
				first = false
			}
			b.WriteString(entry(tl, o.limits(), examples[tl.name]))
		}
	}
	return b.String()
}

// entry describes one tool.
func entry(t *tool, l limits, example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n", t.name, t.doc)
	var params []string
	for _, p := range t.params(l) {
		if !p.hidden {
			params = append(params, paramRow(&p))
		}
	}
	if len(params) > 0 {
		b.WriteString("\n| Argument | Type | Default | Meaning |\n| --- | --- | --- | --- |\n" + strings.Join(params, ""))
	} else {
		b.WriteString("\nIt takes no arguments.\n")
	}
	traits := []string{"Shown by default."}
	if !t.shown {
		traits[0] = fmt.Sprintf("Not shown by default: `--toolsets %s` or `--tools %s` brings it; a call by its name is taken all the same.", t.set, t.name)
	}
	if t.readOnly {
		traits = append(traits, "Changes nothing in the image: `--read-only` keeps it.")
	} else {
		traits = append(traits, "Can change the image: `--read-only` leaves it out.")
	}
	fmt.Fprintf(&b, "\n%s\n\n<!-- example of %s -->\n%s<!-- /example -->\n", strings.Join(traits, " "), t.name, example)
	return b.String()
}

func paramRow(p *param) string {
	var kind string
	switch {
	case len(p.enum) > 0:
		kind = "`" + strings.Join(p.enum, "`, `") + "`"
	case p.kind == kindNumber || p.kind == kindInteger:
		kind = string(p.kind) + ", " + p.bounds()
	default:
		kind = string(p.kind)
	}
	def := "none"
	switch {
	case p.required:
		def = "required"
	case p.def != nil:
		def = "`" + strings.Trim(quote(p.def), `"`) + "`"
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", p.name, cell(kind), cell(def), cell(p.doc))
}
