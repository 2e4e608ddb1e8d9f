//go:build unix

package harness

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// said sends a message of the era with handshakes, and returns the id of the connection and
// the answer.
func (h *HTTPServer) Asked(path, id string, message Object) (conn, answer string) {
	h.T.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	Check(h.T, err)
	r, err := http.NewRequestWithContext(h.T.Context(), "POST", h.Url+path, bytes.NewReader(body))
	Check(h.T, err)
	for k, v := range map[string]string{"Authorization": "Bearer " + h.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(k, v)
	}
	if id != "" {
		r.Header.Set("Mcp-Session-Id", id)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	resp, err := h.Client.Do(r)
	Check(h.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	Check(h.T, err)
	return resp.Header.Get("Mcp-Session-Id"), fmt.Sprintf("%d %s", resp.StatusCode, text)
}
