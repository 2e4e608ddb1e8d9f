package mcpbridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp/project"
)

// Every refusal ends with a call that works: mechanically so.
func TestRefusalNamesTheNextCall(t *testing.T) {
	dir := t.TempDir()
	app := filepath.Join(dir, "app.lisp") // for write-definition
	if err := os.WriteFile(app, []byte("(in-package :my-app)\n(defun total () 1)\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := serve(t, Options{SessionDir: dir, Project: func() *project.Project { return &project.Project{Dirs: []string{dir}} }}).handshake()
	for _, tl := range tools.All() {
		a := p.call(tl.Name, `{"no-such-argument":1}`)
		_, next, found := strings.Cut(a.text(), "Next: "+tl.Name+" ")
		if !a.Result.IsError || !found {
			t.Errorf("%s: text without a next call: %q", tl.Name, a.text())
			continue
		}
		if tl.Name == "read-output" {
			p.call("evaluate-lisp", `{"code":"repeat 10000"}`) // so that out-1 exists
		}
		if a := p.call(tl.Name, next); a.Result.IsError {
			t.Errorf("%s %s: %s", tl.Name, next, a.text())
		}
	}
}
