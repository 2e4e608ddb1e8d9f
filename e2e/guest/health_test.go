package guest

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/swank"
)

// The health check of docker-compose.yml leaves a stock Swank, whose secret a
// mere port probe would make fatal, as it was. In the containers the image
// would forgive it more: see compose/lisp/image.lisp.
func TestHealthCheckOfAStockSwank(t *testing.T) {
	t.Parallel()
	const secret = "open sesame"
	home := t.TempDir()
	harness.Write(t, filepath.Join(home, ".slime-secret"), secret+"\n")
	env := harness.Environ(home)
	p := harness.PersonAt(t, 0, env, "")
	health := func() ([]byte, error) {
		ctx := await.Context(t)
		cmd := exec.CommandContext(ctx, harness.InTree("compose", "lisp", "health"), strconv.Itoa(p.Port))
		cmd.Env = env
		return cmd.CombinedOutput()
	}
	check := func() {
		t.Helper()
		if out, err := health(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	check()

	ctx := await.Context(t)
	var err error
	if p.Conn, err = swank.Dial(ctx, "tcp", p.Address, &swank.Options{Secret: secret}); err != nil {
		t.Fatal(err)
	}
	const count = "(list (length swank::*connections*) (length (sb-thread:list-all-threads)))"
	var before string
	settled := func() bool { // our own connection is the only one, and its threads have been made
		last := before
		before = p.Says(count)
		return before == last && strings.HasPrefix(before, "(1 ")
	}
	if await.Until(settled) != nil {
		t.Fatalf("connections and threads after one health check: %s", before)
	}
	for range 20 {
		check()
	}
	var after string
	if await.Until(func() bool { after = p.Says(count); return after == before }) != nil {
		t.Errorf("connections and threads after 20 health checks: %s, before: %s", after, before)
	}

	p.End()
	if out, err := health(); err == nil {
		t.Errorf("a Lisp that has ended is healthy: %s", out)
	}
}
