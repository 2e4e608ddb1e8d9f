//go:build linux

package survival

import (
	"fmt"
	"sync"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/tier"
)

// hostileOverHTTP are the arguments that take most of a server over HTTP. The image refuses those
// that are evaluated at once, but for the definitions that stand before what is missing.
var hostileOverHTTP = []struct{ tool, argument, text string }{
	{"validate-syntax", "code", "many parameters"},
	{"validate-syntax", "code", `"|"`},
	{"validate-syntax", "code", `"(\n "`},
	{"evaluate-lisp", "code", `")"`},
	{"evaluate-lisp", "code", `"("`},
	{"validate-syntax", "code", `"(defun f ())"`},
	{"evaluate-lisp", "code", `"\""`},
	{"evaluate-lisp", "code", "one missing"},
}

// Over HTTP the server stays as small as on stdio, also for calls of eight sessions at once.
func TestBudgetsOverHTTP(t *testing.T) {
	tier.More(t)
	t.Parallel()
	state := t.TempDir()
	env := harness.Environ(harness.Run.Dir, "XDG_STATE_HOME="+state)
	h := harness.StartHTTPWith(t, wire.Options{Env: env, Dir: t.TempDir()}, state, harness.Run.Binary, "serve", "--http", "127.0.0.1:0", "--toolsets", "all", "--pool", "0", "--no-userinit")
	session := func(n int) string { return fmt.Sprintf("/s/s%d/mcp", n) }
	for n := range hostileOverHTTP {
		h.Wants(session(n), "(defvar *v* 1)", "=> *V*")
	}
	texts := hostileTexts()
	b := budgetOf(t, h.Cmd.Process.Pid)
	call := func(n int) {
		t.Helper()
		c := hostileOverHTTP[n]
		args := harness.Object{c.argument: texts[c.text]}
		if c.tool == "evaluate-lisp" {
			args["timeout"] = 5 // of definitions there is no end
		}
		if _, err := h.Tool(session(n), c.tool, args); err != nil {
			t.Errorf("%s with %s: %v", c.tool, c.text, err)
		}
	}
	alone := tier.Tries(t, 1, len(hostileOverHTTP))
	for n, c := range hostileOverHTTP[len(hostileOverHTTP)-alone:] {
		n += len(hostileOverHTTP) - alone
		b.begin(t)
		call(n)
		what := fmt.Sprintf("%s with %s", c.tool, c.text)
		t.Logf("%s: %d MiB over idle", what, b.holds(t, budgetOfOne, what))
	}
	b.begin(t)
	var all sync.WaitGroup
	for n := range hostileOverHTTP {
		all.Go(func() { call(n) })
	}
	all.Wait()
	t.Logf("at once: %d MiB over idle", b.holds(t, budgetOfEight, "eight at once"))
	for n := range hostileOverHTTP {
		h.Wants(session(n), "*v*", "=> 1")
	}
}
