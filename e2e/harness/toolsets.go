//go:build unix

package harness

import (
	"testing"

	"swank-mcp/internal/await"
)

// ToolNames returns the names of the tools that tools/list answers.
func ToolNames(t *testing.T, s *Server) []string {
	t.Helper()
	ctx := await.Context(t)
	var list struct{ Tools []struct{ Name string } }
	Check(t, s.Call(ctx, "tools/list", Object{}, &list))
	var out []string
	for _, tl := range list.Tools {
		out = append(out, tl.Name)
	}
	return out
}
