package http

import (
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// A principal whose code puts pipes where the server reads in the project, which all share, holds up nobody:
// the sessions of others begin, are told of the project, and answer.
func TestHTTPPipesInTheProject(t *testing.T) {
	tier.More(t)
	t.Parallel()
	project := t.TempDir()
	harness.Write(t, project+"/ocicl.csv", "")
	harness.Write(t, project+"/app.asd", "(defsystem \"app\")\n")
	owner, bert := startTwo(t, "--project", project, "--pool", "0", "--toolsets", "all")
	owner.Shell("/s/a/mcp", "cd "+project+" && for file in ocicl.csv app.asd other.asd qlfile a.lisp; do rm -f $file && mkfifo $file || exit; done")
	for _, h := range []*harness.HTTPServer{bert, owner} {
		h.Wants("/s/b/mcp", "(defun f () 42)", "=> F")
		harness.Says(t, h.Call("/s/b/mcp", "session-status", harness.Object{}), "Image: running")
		for _, c := range []struct {
			tool string
			args harness.Object
			says string
		}{
			{"load-system", harness.Object{"system": "none"}, `Component "none" not found`},
			{"describe-system", harness.Object{"name": "none"}, `There is no system "none"`},
			{"project-status", harness.Object{}, "No system of the project is loaded."},
			{"validate-syntax", harness.Object{"path": project + "/a.lisp"}, "is no file"},
			{"write-definition", harness.Object{"name": "f", "file": project + "/a.lisp"}, "is no file"},
			{"write-definition", harness.Object{"name": "f"}, "No file of the project defines"},
		} {
			text, err := h.Tool("/s/b/mcp", c.tool, c.args)
			harness.Check(t, err)
			harness.Says(t, text, c.says)
		}
		if answer := h.Handshake()("(+ 1 2)"); !strings.Contains(answer, "=> 3") && !strings.Contains(answer, `=\u003e 3`) {
			t.Errorf("a client with a handshake is answered %s", answer)
		}
		h.Wants("/s/b/mcp", "(f)", "=> 42…")
	}
}
