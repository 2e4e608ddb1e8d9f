package survival

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// The first `swank-mcp eval` of all makes the core from which the next one starts. It also
// ends as its evaluation has.
func TestEvalCommandMakesTheCore(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	harness.SkipLaunchedOnly(t)
	alone.Lock()
	defer alone.Unlock()
	cache := harness.ShortDir(t)
	eval := func(form string) (out string, status int) {
		command := await.Command(t, harness.Run.Binary, "eval", form)
		command.Env = harness.Environ(harness.Run.Dir, "XDG_CACHE_HOME="+cache)
		text, _ := command.CombinedOutput()
		return string(text), command.ProcessState.ExitCode()
	}
	if out, status := eval("(/ 1 0)"); status != 1 || !strings.Contains(out, "DIVISION-BY-ZERO") {
		t.Errorf("the first one: status %d\n%s", status, out)
	}
	if n := harness.Cores(cache, time.Time{}); n != 1 {
		t.Errorf("%d cores when the first one has ended", n)
	}
	out, status := eval(`(with-open-file (s "/proc/self/cmdline") (read-line s))`)
	if status != 0 || !strings.Contains(out, cache) {
		t.Errorf("the second one did not start from the core: status %d\n%s", status, out)
	}
}
