package main

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
)

// TestReferenceOfTheFlags holds docs/reference/flags.md equal to the flags.
func TestReferenceOfTheFlags(t *testing.T) {
	pagetest.Check(t, "../../docs/reference/flags.md", "flags", *update, func(string) string { return flagTable(t) })
}

var usageLine = regexp.MustCompile(`(?m)^  --([a-z-]+) (?:([A-Z]+) )?\s*(.*(?:\n {20,}.*)*)$`)

// flagTable is made of the flags and of what the usage says of each.
func flagTable(t *testing.T) string {
	type line struct{ arg, doc string }
	said := map[string]line{}
	for _, m := range usageLine.FindAllStringSubmatch(usage+usageImage+usageSession+usageSandbox+usagePeople, -1) {
		said[m[1]] = line{m[2], strings.Join(strings.Fields(m[3]), " ")}
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
		if l.arg != "" {
			name += " " + l.arg
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | `SWANK_MCP_%s` |\n", name, l.doc, def,
			strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))))
	})
	return "| Flag | Meaning | Default | Environment |\n| --- | --- | --- | --- |\n" + strings.Join(rows, "")
}
