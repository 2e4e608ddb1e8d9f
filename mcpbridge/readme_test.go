package mcpbridge

import (
	"os"
	"strings"
	"testing"
)

// TestReadmeListsTheTools holds README's table of tools equal to the tools.
func TestReadmeListsTheTools(t *testing.T) {
	const file, begin, end = "../README.md", "<!-- tools -->\n", "<!-- /tools -->"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	table, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table, between %q and %q", file, begin, end)
	}
	if table == ToolTable() {
		return
	}
	if !*update {
		t.Fatalf("%s: the table of tools is not that of the code; -update rewrites it", file)
	}
	if err := os.WriteFile(file, []byte(head+begin+ToolTable()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
