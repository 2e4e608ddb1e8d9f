package guest

import (
	"fmt"
	"path/filepath"
	"strconv"
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
		cmd := await.Command(t, harness.InTree("compose", "lisp", "health"), strconv.Itoa(p.Port))
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
	var connections, before, after int
	counted := func(threads *int) bool { // our own connection is the only one
		said := p.Says(count)
		if _, err := fmt.Sscanf(said, "(%d %d)", &connections, threads); err != nil {
			t.Fatalf("it counts %s", said)
		}
		return connections == 1
	}
	await.True(t, "the end of the first health check's connection", func() bool { return counted(&before) })
	for range 20 {
		check()
	}
	// Threads of the first one may still have been there.
	if await.Until(func() bool { return counted(&after) && after <= before }) != nil {
		t.Errorf("after 20 health checks there are %d connections and %d threads, before: 1 and %d", connections, after, before)
	}

	p.End()
	if out, err := health(); err == nil {
		t.Errorf("a Lisp that has ended is healthy: %s", out)
	}
}
