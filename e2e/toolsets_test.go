package e2e

import (
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
)

// toolNames is what tools/list answers.
func toolNames(t *testing.T, s *server) []string {
	t.Helper()
	ctx := await.Context(t)
	var list struct{ Tools []struct{ Name string } }
	check(t, s.Call(ctx, "tools/list", object{}, &list))
	var out []string
	for _, tl := range list.Tools {
		out = append(out, tl.Name)
	}
	return out
}

// TestToolsets: flags and environment choose the tools at the start. One that
// is not shown can be called; a call of one that was left out says how to have it.
func TestToolsets(t *testing.T) {
	t.Parallel()
	whole := start(t)
	all := toolNames(t, whole)
	byDefault := startWith(t, wire.Options{Env: environ(run.dir, "SWANK_MCP_TOOLSETS=")})
	some := toolNames(t, byDefault)
	if len(some) > 28 || !slices.Contains(some, "evaluate-lisp") || len(all) < len(some) {
		t.Errorf("default: %d of %d tools: %v", len(some), len(all), some)
	}
	want(t, byDefault, "(+ 1 2)", "=> 3")
	if slices.Contains(some, "list-threads") {
		t.Errorf("list-threads is shown by default: %v", some)
	}
	good(t, byDefault, "list-threads", object{}) // though it is not shown
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
	ctx := await.Context(t)
	if _, err := reader.Tool(ctx, "evaluate-lisp", object{"code": "(+ 1 2)"}); err == nil || !strings.Contains(err.Error(), "--read-only") {
		t.Errorf("evaluate-lisp under --read-only: %v", err)
	}
	says(t, listPackages(t, reader, object{}), "COMMON-LISP-USER")

	one := startWith(t, wire.Options{Env: environ(run.dir, "SWANK_MCP_TOOLSETS=", "SWANK_MCP_TOOLS=list-packages,evaluate_lisp")})
	if got := toolNames(t, one); !slices.Equal(got, []string{"evaluate-lisp", "list-packages"}) {
		t.Errorf("two tools from the environment: %v", got)
	}
	if _, err := one.Tool(ctx, "read-output", object{"handle": "out-1"}); err == nil ||
		!strings.Contains(err.Error(), "`--tools list-packages,evaluate_lisp,read-output` brings it") {
		t.Errorf("read-output: %v", err)
	}
}

// TestReadOnlyEvaluatesNothing: whatever is given to a tool that --read-only
// leaves, none of it is evaluated, not even by the reader.
func TestReadOnlyEvaluatesNothing(t *testing.T) {
	t.Parallel()
	s := start(t, "--read-only", "--toolsets", "all")
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
	check(t, s.Call(ctx, "tools/list", object{}, &list))
	const code = `(progn (setf (get :hole :deep) t) (make-package "HOLE"))`
	for _, text := range []string{code, "#." + code, "'#." + code, "(when #." + code + " 1)"} {
		for _, tl := range list.Tools {
			args := object{}
			for name, p := range tl.InputSchema.Properties {
				if p.Type == "string" && len(p.Enum) == 0 {
					args[name] = text
				}
			}
			call(t, s, tl.Name, args)
			for name := range args { // the others may keep it from being looked at
				call(t, s, tl.Name, object{name: text})
			}
			if got := call(t, s, "list-packages", object{"filter": "HOLE", "kind": "all"}).Text(); !strings.Contains(got, "No package matches") {
				t.Fatalf("%s %v evaluated it: %s", tl.Name, args, got)
			}
		}
	}
}
