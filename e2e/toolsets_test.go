package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
)

// toolNames is what tools/list answers.
func toolNames(t *testing.T, s *server) []string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	var list struct{ Tools []struct{ Name string } }
	if err := s.Call(ctx, "tools/list", map[string]any{}, &list); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, tl := range list.Tools {
		out = append(out, tl.Name)
	}
	return out
}

// TestToolsets: flags and environment choose the tools at the start, and a
// call of a tool that was left out says how to have it.
func TestToolsets(t *testing.T) {
	whole := start(t)
	all := toolNames(t, whole)
	byDefault := startWith(t, wire.Options{Env: environ(run.dir, "SWANK_MCP_TOOLSETS=")})
	some := toolNames(t, byDefault)
	if len(some) > 26 || !slices.Contains(some, "evaluate-lisp") || len(all) < len(some) {
		t.Errorf("default: %d of %d tools: %v", len(some), len(all), some)
	}
	want(t, byDefault, "(+ 1 2)", "=> 3")
	if again := toolNames(t, byDefault); !slices.Equal(again, some) {
		t.Errorf("the list changed from %v to %v", some, again)
	}

	reader := start(t, "--read-only")
	names := toolNames(t, reader)
	for _, n := range []string{"evaluate-lisp", "reset-session", "load-system"} {
		if slices.Contains(names, n) {
			t.Errorf("--read-only shows %s", n)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if _, err := reader.Tool(ctx, "evaluate-lisp", map[string]any{"code": "(+ 1 2)"}); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("evaluate-lisp under --read-only: %v", err)
	}
	if got := call(t, reader, patience, "list-packages", map[string]any{}); got.IsError || !strings.Contains(got.Text(), "COMMON-LISP-USER") {
		t.Errorf("list-packages under --read-only: %q", got.Text())
	}

	one := startWith(t, wire.Options{Env: environ(run.dir, "SWANK_MCP_TOOLSETS=", "SWANK_MCP_TOOLS=list-packages,evaluate_lisp")})
	if got := toolNames(t, one); !slices.Equal(got, []string{"evaluate-lisp", "list-packages"}) {
		t.Errorf("two tools from the environment: %v", got)
	}
	if _, err := one.Tool(ctx, "read-output", map[string]any{"handle": "out-1"}); err == nil ||
		!strings.Contains(err.Error(), "`--tools list-packages,evaluate_lisp,read-output` brings it") {
		t.Errorf("read-output: %v", err)
	}
}
