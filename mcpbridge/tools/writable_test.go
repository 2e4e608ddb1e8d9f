package tools

import (
	"os"
	"path/filepath"
	"testing"

	"swank-mcp/internal/files"
)

func TestNearFiles(t *testing.T) {
	dir := t.TempDir()
	r := &Request{Env: Env{Trees: &files.Trees{}}}
	if got := r.nearFiles(filepath.Join(dir, "a.lisp")); got != " That directory has no Lisp files." {
		t.Error(got)
	}
	for _, name := range []string{"package.lisp", "main.lisp", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"pakage.lisp":         " Near it: " + dir + "/package.lisp.",
		"something-else.lisp": " In that directory: main.lisp, package.lisp.",
		"no/x.lisp":           " Nor is there a directory " + dir + "/no.",
	} {
		if got := r.nearFiles(filepath.Join(dir, name)); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
