package http

import (
	"net/http"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// Clients that go without a word, when their streams end, leave sessions that make room for the
// next, the oldest first. One that comes back is told that its session has gone, and why.
func TestHTTPClientsThatLeft(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--max-sessions-each", "2", "--pool", "0")
	initialize := func() (id, answer string) {
		return h.Asked("/mcp", "", harness.Object{"id": 1, "method": "initialize", "params": harness.Object{
			"protocolVersion": "2025-11-25", "capabilities": harness.Object{}, "clientInfo": harness.Object{"name": "e2e", "version": "1"}}})
	}
	eval := func(id, code string) string {
		_, answer := h.Asked("/mcp", id, harness.Object{"id": 2, "method": "tools/call", "params": harness.Object{"name": "evaluate-lisp", "arguments": harness.Object{"code": code}}})
		return answer
	}
	var ids []string
	for range 2 {
		id, answer := initialize()
		if id == "" {
			t.Fatal(answer)
		}
		h.Asked("/mcp", id, harness.Object{"method": "notifications/initialized"})
		if got := eval(id, "(defun f () 42)"); !strings.Contains(got, "F") {
			t.Fatal(got)
		}
		r, err := http.NewRequestWithContext(t.Context(), "GET", h.Url+"/mcp", nil)
		harness.Check(t, err)
		for k, v := range map[string]string{"Authorization": "Bearer " + h.Token, "Accept": "text/event-stream", "Mcp-Session-Id": id, "MCP-Protocol-Version": "2025-11-25"} {
			r.Header.Set(k, v)
		}
		resp, err := h.Client.Do(r)
		harness.Check(t, err)
		if resp.StatusCode != 200 {
			t.Errorf("a stream: %s", resp.Status)
		}
		if len(ids) == 0 { // the other one stays
			resp.Body.Close()
		} else {
			defer resp.Body.Close()
		}
		ids = append(ids, id)
	}
	answer := ""
	if await.Until(func() bool {
		id := ""
		id, answer = initialize()
		return id != ""
	}, h) != nil {
		t.Fatalf("there is no room for the next: %s", answer)
	}
	if got := eval(ids[0], "(f)"); !harness.Matches("404 session not found: it made room for another one after nobody had used it for … seconds, and what it had defined went with it. Begin anew with initialize…", got) {
		t.Errorf("who has come back is told %s", got)
	}
	if got := eval(ids[1], "(f)"); !strings.Contains(got, "42") {
		t.Errorf("who has stayed gets %s", got)
	}
}
