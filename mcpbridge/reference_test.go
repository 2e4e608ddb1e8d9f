package mcpbridge

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
	"swank-mcp/mcpbridge/args"
	"swank-mcp/mcpbridge/rawtext"
	"swank-mcp/mcpbridge/tools"
)

// TestReferenceOfTheTools holds docs/reference/tools.md equal to the tools.
// What stands there between <!-- example --> marks is written by hand, begun and then
// kept by -update, and run by TestDocs in e2e.
func TestReferenceOfTheTools(t *testing.T) {
	pagetest.Check(t, inTree("docs/reference/tools.md"), "tools", *update, func(is string) string { return reference(examples(is)) })
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
	for _, set := range tools.Sets {
		first := true
		for _, tl := range tools.All() {
			if tl.Set != set.Name {
				continue
			}
			if first {
				fmt.Fprintf(&b, "\n## Toolset `%s`: %s\n", set.Name, set.About)
				first = false
			}
			b.WriteString(entry(tl, o.limits(), examples[tl.Name]))
		}
	}
	return b.String()
}

// entry describes one tool.
func entry(t *tools.Tool, l tools.Limits, example string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n%s\n", t.Name, t.Doc)
	var params []string
	for _, p := range t.Spec(l).Params {
		if !p.Hidden {
			params = append(params, paramRow(&p))
		}
	}
	if len(params) > 0 {
		b.WriteString("\n| Argument | Type | Default | Meaning |\n| --- | --- | --- | --- |\n" + strings.Join(params, ""))
	} else {
		b.WriteString("\nIt takes no arguments.\n")
	}
	if example == "" { // go test ./e2e/docs -run TestDocs -update adds the reply
		example = "```call\n" + t.Name + " " + t.Example + "\n```\n\n```text\n```\n"
	}
	traits := []string{"Shown by default."}
	if !t.Shown {
		traits[0] = fmt.Sprintf("Not shown by default: `--toolsets %s` or `--tools %s` brings it; a call by its name is taken all the same.", t.Set, t.Name)
	}
	switch {
	case t.Writes != "":
		traits = append(traits, fmt.Sprintf("Changes nothing in the image: `--read-only` keeps it, without `%s`.", t.Writes))
	case t.ReadOnly:
		traits = append(traits, "Changes nothing in the image: `--read-only` keeps it.")
	default:
		traits = append(traits, "Can change the image: `--read-only` leaves it out.")
	}
	fmt.Fprintf(&b, "\n%s\n\n<!-- example of %s -->\n%s<!-- /example -->\n", strings.Join(traits, " "), t.Name, example)
	return b.String()
}

func paramRow(p *args.Param) string {
	var kind string
	switch {
	case len(p.Enum) > 0:
		kind = "`" + strings.Join(p.Enum, "`, `") + "`"
	case p.Kind == args.Number || p.Kind == args.Integer:
		kind = string(p.Kind) + ", " + p.Bounds()
	default:
		kind = string(p.Kind)
	}
	def := "none"
	switch {
	case p.Required:
		def = "required"
	case p.Def != nil:
		def = "`" + strings.Trim(rawtext.Quote(p.Def), `"`) + "`"
	}
	cell := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", p.Name, cell(kind), cell(def), cell(p.Doc))
}
