package tools

import (
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/internal/files"
	"swank-mcp/mcpbridge/render"
)

// A file that cannot be read is asked where its parentheses broke.
func TestCompiledTextParentheses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.lisp")
	if err := os.WriteFile(file, []byte("(a\n (b\n (c))\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p render.Parts
	writeParentheses(&p, &files.Trees{}, file, "")
	writeParentheses(&p, &files.Trees{}, file+".none", "")
	writeParentheses(&p, &files.Trees{}, "", "(fine)")
	want := "1:1: This list is never closed: 1 closing parenthesis is missing. " +
		"Line 3 begins in column 2, as if the list that begins at 2:2 were closed before it: look at the end of line 2."
	if got := p.String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
