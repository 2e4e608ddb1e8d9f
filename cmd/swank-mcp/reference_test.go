package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"swank-mcp/internal/pagetest"
	"swank-mcp/register"
)

// TestReferenceOfTheFlags holds docs/reference/flags.md equal to the flags.
func TestReferenceOfTheFlags(t *testing.T) {
	pagetest.Check(t, "../../docs/reference/flags.md", "flags", *update, func(string) string { return flagTable(t) })
}

// TestClientsOfTheQuickstart holds the table of clients equal to those that install knows.
func TestClientsOfTheQuickstart(t *testing.T) {
	t.Setenv("HOME", "/home")
	for _, name := range []string{"XDG_CONFIG_HOME", "CODEX_HOME"} {
		t.Setenv(name, "")
	}
	table := "| client | `--client` | your file | the file of a project |\n| --- | --- | --- | --- |\n"
	for _, c := range register.Clients() {
		user, err := c.OfUser()
		if err != nil {
			t.Fatal(err)
		}
		mine, ours := "", ""
		switch {
		case c.ByCommand():
			mine = "`~/.claude.json`"
		case c.Shown():
			mine = "only shown, as it is Lisp"
		default:
			mine = "`~" + strings.TrimPrefix(user.File, "/home") + "`"
		}
		if p, ok := c.OfProject("/"); ok {
			ours = "`" + strings.TrimPrefix(p.File, "/") + "`"
		}
		table += fmt.Sprintf("| %s | `%s` | %s | %s |\n", c.Title, c.Name, mine, ours)
	}
	pagetest.Check(t, "../../docs/quickstart.md", "clients", *update, func(string) string { return table })
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
