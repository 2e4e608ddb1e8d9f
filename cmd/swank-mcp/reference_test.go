package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
)

// TestReferenceOfTheFlags holds docs/reference/flags.md equal to the flags.
func TestReferenceOfTheFlags(t *testing.T) {
	pagetest.Check(t, "../../docs/reference/flags.md", "flags", *update, func(string) string { return flagTable(t) })
}

// flagTable is made of the flags and of what the usage says of each.
func flagTable(t *testing.T) string {
	said := map[string]told{}
	for _, page := range pages {
		for _, flag := range tellsOf(page.text, toldFlag) {
			said[flag.name] = flag
		}
	}
	var rows []string
	var c config
	c.flags().VisitAll(func(f *flag.Flag) {
		l, ok := said[f.Name]
		if !ok {
			t.Errorf("--%s is not in the usage", f.Name)
			return
		}
		def := f.DefValue
		if def == "" || def == "false" {
			def = "none"
		} else {
			def = "`" + strings.ToLower(def) + "`"
			l.doc = strings.TrimSuffix(l.doc, " ("+strings.ToLower(f.DefValue)+")")
		}
		name := "--" + f.Name
		if l.args != "" {
			name += " " + l.args
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | `SWANK_MCP_%s` |\n", name, l.doc, def,
			strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))))
	})
	return "| Flag | Meaning | Default | Environment |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "")
}
