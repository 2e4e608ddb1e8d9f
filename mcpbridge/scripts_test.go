package mcpbridge

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/tools"
)

// TestEveryToolHasAScript: e2e runs it; -update writes the beginning of one.
func TestEveryToolHasAScript(t *testing.T) {
	for _, tl := range tools.All() {
		file := inTree("e2e/testdata/script/" + tl.Name + ".txtar")
		_, err := os.Stat(file)
		if *update && errors.Is(err, fs.ErrNotExist) {
			err = os.WriteFile(file, []byte(beginningOfScript(tl)), 0o644)
		}
		if err != nil {
			t.Errorf("%v; -update begins the script", err)
		}
	}
}

// beginningOfScript calls the tool as its example does, and wrongly.
func beginningOfScript(t *tools.Tool) string {
	first, _, _ := strings.Cut(t.Doc, ". ")
	return "# " + t.Name + ": " + strings.TrimSuffix(first, ".") + ".\n" +
		"server\n" +
		"call " + t.Name + " '" + strings.ReplaceAll(t.Example, "'", "''") + "'\n" +
		"stdout .\n" +
		"\n! call " + t.Name + " no-such-argument=1\n" +
		"stdout '^\\[ERROR\\] INVALID-ARGUMENTS$'\n"
}
