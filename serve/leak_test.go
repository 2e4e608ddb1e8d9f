package serve

import (
	"context"
	"io"
	"net/http"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/serve/hub"
)

// ours are the goroutines of the server, the SDK and the images, but for the caller's, the one that
// runs all tests, and parallel tests that have yet to run.
func ours() (stacks []string) {
	var text strings.Builder
	pprof.Lookup("goroutine").WriteTo(&text, 2)
	for _, g := range strings.Split(text.String(), "\n\n") {
		if (strings.Contains(g, "swank-mcp/") || strings.Contains(g, "go-sdk")) && !strings.Contains(g, "serve.ours(") && !strings.Contains(g, "testenv.Main(") && !strings.Contains(g, "testing.(*T).Parallel(") {
			stacks = append(stacks, g)
		}
	}
	return stacks
}

// descriptors is how many this process has.
func descriptors(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	check(t, err)
	return len(all)
}

// Clients that come and go, in every way, leave no goroutine, descriptor or process: not in
// a server that runs, but for its sessions, and none after its end.
func TestNothingStays(t *testing.T) {
	tier.More(t)
	if stacks := ours(); len(stacks) > 0 {
		t.Fatalf("before: %s", stacks)
	}
	before := descriptors(t)
	p := start(t, t.TempDir(), func(o *Options) { o.Hub.Hibernate = 100 * time.Millisecond; o.Hub.Limits = hub.Limits{Images: 3} })
	base := 0
	var pids []int
	for i := range 4 {
		for range 3 {
			id, _ := p.handshake(call{})
			pids = append(pids, p.pid(code("").within(id)))
			p.send(call{method: "DELETE", header: map[string]string{sessionHeader: id}})
			p.send(code("(+ 1 2)"))
			p.send(tool("session-status", map[string]any{}).by("bert"))
			p.send(call{who: "nobody", body: "{}"})
			p.send(call{body: `{"jsonrpc":"2.0","id":1,"method":"initialize","params":"wrong"}`})
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if resp, err := p.open(ctx, code("(loop)")); err == nil {
				io.ReadAll(resp.Body)
			}
			cancel()
		}
		http.DefaultClient.CloseIdleConnections()
		await.True(t, "all images are put away", func() bool { _, awake := p.s.hub.Counts(); return awake == 0 })
		var stacks []string
		if i == 0 {
			time.Sleep(200 * time.Millisecond)
			base = len(ours())
			continue
		}
		await.True(t, "no more goroutines than after the first round", func() bool { stacks = ours(); return len(stacks) <= base })
	}
	if n := len(p.s.hub.List()); n != 2 {
		t.Errorf("%d sessions: %+v", n, p.s.hub.List())
	}
	p.end()
	http.DefaultClient.CloseIdleConnections()
	await.True(t, "no goroutine stays", func() bool { return len(ours()) == 0 })
	await.True(t, "no descriptor stays", func() bool { return descriptors(t) <= before+2 })
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d stays", pid)
		}
	}
}
