package mcpbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file that a call names may be of any size; the server reads no more of it
// than it can hold.
func TestSyntaxOfAHugeFile(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.lisp")
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 16<<20+1); err != nil {
		t.Fatal(err)
	}
	p := serve(t, Options{Tools: everyTool}).handshake()
	a := p.call("validate-syntax", `{"path": "`+huge+`"}`)
	if text := a.text(); !a.Result.IsError || !strings.Contains(text, "INVALID-ARGUMENTS") || !strings.Contains(text, "more than 16 MB") ||
		!strings.Contains(text, "Next: validate-syntax") {
		t.Errorf("got %s", text)
	}
}
