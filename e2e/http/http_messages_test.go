package http

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/tier"
)

// Messages that can be read in two ways, ids that would come back changed, and batches where
// there are none are refused with what is valid; nothing of them is done, and no image starts.
func TestHTTPMessages(t *testing.T) {
	tier.More(t)
	t.Parallel()
	h := harness.StartHTTP(t, t.TempDir(), "--max-rate", "40", "--pool", "0")
	conn, answer := h.Asked("/mcp", "", harness.Object{"id": 1, "method": "initialize", "params": harness.Object{
		"protocolVersion": "2025-03-26", "capabilities": harness.Object{}, "clientInfo": harness.Object{"name": "e2e", "version": "1"}}})
	if conn == "" {
		t.Fatal(answer)
	}
	post := func(version, body string) string {
		r, err := http.NewRequestWithContext(t.Context(), "POST", h.Url+"/mcp", strings.NewReader(body))
		harness.Check(t, err)
		for k, v := range map[string]string{"Authorization": "Bearer " + h.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": conn, "MCP-Protocol-Version": version} {
			r.Header.Set(k, v)
		}
		resp, err := h.Client.Do(r)
		harness.Check(t, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		harness.Check(t, err)
		return fmt.Sprintf("%d %s", resp.StatusCode, text)
	}
	call := func(id, arguments string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"evaluate-lisp","arguments":{` + arguments + `}}}`
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, c := range []struct{ name, version, body, status, says string }{
		{"an id with a fraction", "2025-11-25", call("1.5", `"code":"1"`), "400", "id is 1.5; valid is a string"},
		{"an id with an exponent", "2025-11-25", call("1e3", `"code":"1"`), "400", "id is 1e3; valid is a string"},
		{"an id of 30 digits", "2025-11-25", call(strings.Repeat("7", 30), `"code":"1"`), "400", "valid is a string"},
		{"code twice", "2025-11-25", call("1", `"code":"1","code":"2"`), "400", `params.arguments has \"code\" twice: send it once.`},
		{"code twice, by case", "2025-11-25", call("1", `"code":"1","Code":"2"`), "400", `params.arguments has \"code\" and \"Code\"`},
		{"code twice, by escapes", "2025-11-25", call("1", `"code":"1","c\u006Fde":"2"`), "400", `params.arguments has \"code\" twice`},
		{"a batch in a later protocol", "2025-11-25", "[" + ping + "]", "400", "which only protocol 2025-03-26 has"},
		{"a batch", "2025-03-26", "[" + ping + "]", "200", `"id":1`},
		{"code twice in a batch", "2025-03-26", "[" + call("2", `"code":"1","code":"2"`) + "]", "400", "Message 1 of the batch"},
		{"more than a batch has", "2025-03-26", "[" + strings.Join(slices.Repeat([]string{ping}, 50_000), ",") + "]", "400", "a batch of 50000 messages; at most 80 are taken."},
	} {
		if got := post(c.version, c.body); !strings.HasPrefix(got, c.status+" ") || !strings.Contains(got, c.says) {
			t.Errorf("%s: got %.600s, want %s, %s", c.name, got, c.status, c.says)
		}
	}
	if n := h.Metric("images"); n != 0 {
		t.Errorf("%d images run", n)
	}
}
