package session

import (
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// TestToolsets: flags and environment choose the tools at the start. One that
// is not shown can be called; a call of one that was left out says how to have it.
func TestToolsets(t *testing.T) {
	t.Parallel()
	whole := harness.Start(t)
	all := harness.ToolNames(t, whole)
	byDefault := harness.StartWith(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "SWANK_MCP_TOOLSETS=")})
	some := harness.ToolNames(t, byDefault)
	if len(some) > 28 || !slices.Contains(some, "evaluate-lisp") || len(all) < len(some) {
		t.Errorf("default: %d of %d tools: %v", len(some), len(all), some)
	}
	harness.Want(t, byDefault, "(+ 1 2)", "=> 3")
	if slices.Contains(some, "list-threads") {
		t.Errorf("list-threads is shown by default: %v", some)
	}
	harness.Good(t, byDefault, "list-threads", harness.Object{}) // though it is not shown
	if again := harness.ToolNames(t, byDefault); !slices.Equal(again, some) {
		t.Errorf("the list changed from %v to %v", some, again)
	}

	reader := harness.Start(t, "--read-only")
	names := harness.ToolNames(t, reader)
	for _, n := range []string{"evaluate-lisp", "reset-session", "load-system"} {
		if slices.Contains(names, n) {
			t.Errorf("--read-only shows %s", n)
		}
	}
	ctx := await.Context(t)
	if _, err := reader.Tool(ctx, "evaluate-lisp", harness.Object{"code": "(+ 1 2)"}); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("evaluate-lisp under --read-only: %v", err)
	}
	harness.Says(t, harness.ListPackages(t, reader, harness.Object{}), "COMMON-LISP-USER")

	one := harness.StartWith(t, wire.Options{Env: harness.Environ(harness.Run.Dir, "SWANK_MCP_TOOLSETS=", "SWANK_MCP_TOOLS=list-packages,evaluate_lisp")})
	if got := harness.ToolNames(t, one); !slices.Equal(got, []string{"evaluate-lisp", "list-packages"}) {
		t.Errorf("two tools from the environment: %v", got)
	}
	if _, err := one.Tool(ctx, "read-output", harness.Object{"handle": "out-1"}); err == nil ||
		!strings.Contains(err.Error(), "`--tools list-packages,evaluate_lisp,read-output` brings it") {
		t.Errorf("read-output: %v", err)
	}
}

// TestReadOnlyEvaluatesNothing: whatever is given to a tool that --read-only
// leaves, none of it is evaluated, not even by the reader.
func TestReadOnlyEvaluatesNothing(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, "--read-only", "--toolsets", "all")
	ctx := await.Context(t)
	var list struct {
		Tools []struct {
			Name        string
			InputSchema struct {
				Properties map[string]struct {
					Type string
					Enum []string
				}
			}
		}
	}
	harness.Check(t, s.Call(ctx, "tools/list", harness.Object{}, &list))
	const code = `(progn (setf (get :hole :deep) t) (make-package "HOLE"))`
	for _, text := range []string{code, "#." + code, "'#." + code, "(when #." + code + " 1)"} {
		for _, tl := range list.Tools {
			args := harness.Object{}
			for name, p := range tl.InputSchema.Properties {
				if p.Type == "string" && len(p.Enum) == 0 {
					args[name] = text
				}
			}
			harness.Call(t, s, tl.Name, args)
			for name := range args { // the others may keep it from being looked at
				harness.Call(t, s, tl.Name, harness.Object{name: text})
			}
			if got := harness.Call(t, s, "list-packages", harness.Object{"filter": "HOLE", "kind": "all"}).Text(); !strings.Contains(got, "No package matches") {
				t.Fatalf("%s %v evaluated it: %s", tl.Name, args, got)
			}
		}
	}
}
