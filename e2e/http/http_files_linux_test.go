package http

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// A server that may open no more files says so to a new client, and to a session that needs an
// image, with the limit and what to do. Who is connected, and has an image, goes on. When
// connections are closed, all is as before. Connections that say nothing are closed for clients
// that send a request.
func TestHTTPOutOfFiles(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--pool", "0")
	h.Wants("/s/a/mcp", "(defvar *v* 1)", "=> *V*")
	h.Wants("/s/b/mcp", "(+ 1 2)", "=> 3")
	pid := h.Cmd.Process.Pid
	open := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		harness.Check(t, err)
		return len(all)
	}
	most := open() + 4
	limit := unix.Rlimit{Cur: uint64(most), Max: uint64(most)}
	harness.Check(t, unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil))
	names := fmt.Sprintf("the server has as many files open as it may, which are %d (ulimit -n)", most)
	var taken []*http.Client // each has a connection
	for full := false; !full; {
		c := &http.Client{Transport: &http.Transport{}}
		taken = append(taken, c)
		resp, err := c.Get(h.Url + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		full = resp.StatusCode == 503
		if full && (!strings.Contains(string(body), names) || !strings.Contains(string(body), "ulimit -n 65536")) || !full && len(taken) > most {
			t.Fatalf("new client %d: %s: %s", len(taken), resp.Status, body)
		}
	}
	h.Wants("/s/a/mcp", "(list *v*)", "=> (1)")
	if got := h.Eval("/s/c/mcp", "1"); !strings.Contains(got, names) || !strings.Contains(got, "LimitNOFILE") {
		t.Errorf("an image more: %s", got)
	}
	h.Wants("/s/a/mcp", "(list *v*)", "=> (1)")
	for _, c := range taken {
		c.CloseIdleConnections()
	}
	if await.Until(func() bool { return h.Eval("/s/a/mcp", "(list *v*)") == "=> (1)" }, h) != nil {
		t.Error("it does not answer any more")
	}
	if await.Until(func() bool {
		resp, err := taken[0].Get(h.Url + "/readyz")
		if err != nil {
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	}, h) != nil {
		t.Error("there is no room for a new client after others have gone")
	}
	taken[0].CloseIdleConnections()
	for range 80 {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.Url, "http://"))
		harness.Check(t, err)
		defer c.Close()
	}
	resp, err := taken[0].Get(h.Url + "/readyz")
	harness.Check(t, err)
	resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Errorf("beside 80 connections that say nothing: %s", resp.Status)
	}
	h.Wants("/s/a/mcp", "(list *v*)", "=> (1)")
}
