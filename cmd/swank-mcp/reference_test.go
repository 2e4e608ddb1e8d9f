package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestReferenceOfTheFlags holds docs/reference/flags.md equal to the flags.
func TestReferenceOfTheFlags(t *testing.T) {
	const file, begin, end = "../../docs/reference/flags.md", "<!-- flags -->\n", "<!-- /flags -->"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	is, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the flags, between %q and %q", file, begin, end)
	}
	want := flagTable(t)
	if is == want {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the code says; -update rewrites it (-code +page):\n%s", file, cmp.Diff(want, is))
	}
	if err := os.WriteFile(file, []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

var usageLine = regexp.MustCompile(`(?m)^  --([a-z-]+) (?:([A-Z]+) )?\s*(.*(?:\n {20,}.*)*)$`)

// flagTable is made of the flags and of what the usage says of each.
func flagTable(t *testing.T) string {
	type line struct{ arg, doc string }
	said := map[string]line{}
	for _, m := range usageLine.FindAllStringSubmatch(usage+usageImage, -1) {
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
