//go:build unix

package harness

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"

	"swank-mcp/internal/await"
)

// Metric is a number of the server's page for Prometheus.
func (h *HTTPServer) Metric(name string) int {
	h.T.Helper()
	r, err := http.NewRequest("GET", h.Url+"/metrics", nil)
	Check(h.T, err)
	r.Header.Set("Authorization", "Bearer "+h.Token)
	resp, err := h.Client.Do(r)
	Check(h.T, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	Check(h.T, err)
	m := regexp.MustCompile(`(?m)^swank_mcp_` + name + ` (\d+)$`).FindSubmatch(body)
	if m == nil {
		h.T.Fatalf("no %s in\n%s", name, body)
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}

// AwaitsAhead waits until so many images wait for sessions, and returns all processes of the
// server's.
func (h *HTTPServer) AwaitsAhead(n int) []int {
	h.T.Helper()
	if await.Until(func() bool { return h.Metric("images_ahead") == n }) != nil {
		h.T.Fatalf("%d images are started ahead, not %d", h.Metric("images_ahead"), n)
	}
	return Descendants(h.Cmd.Process.Pid)
}

// Handshake begins a connection at /mcp, of which each call is one of the era with handshakes.
func (h *HTTPServer) Handshake() (eval func(code string) string) {
	h.T.Helper()
	id := ""
	send := func(message Object) (http.Header, string) {
		message["jsonrpc"] = "2.0"
		body, err := json.Marshal(message)
		Check(h.T, err)
		r, err := http.NewRequest("POST", h.Url+"/mcp", bytes.NewReader(body))
		Check(h.T, err)
		for k, v := range map[string]string{"Authorization": "Bearer " + h.Token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(k, v)
		}
		if id != "" {
			r.Header.Set("Mcp-Session-Id", id)
		}
		resp, err := h.Client.Do(r)
		Check(h.T, err)
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		Check(h.T, err)
		return resp.Header, string(text)
	}
	head, _ := send(Object{"id": 1, "method": "initialize", "params": Object{"protocolVersion": "2025-11-25", "capabilities": Object{}, "clientInfo": Object{"name": "e2e", "version": "1"}}})
	id = head.Get("Mcp-Session-Id")
	send(Object{"method": "notifications/initialized", "params": Object{}})
	return func(code string) string {
		_, text := send(Object{"id": 2, "method": "tools/call", "params": Object{"name": "evaluate-lisp", "arguments": Object{"code": code}}})
		return text
	}
}

// Dir is the directory of a named session of the owner's.
func (h *HTTPServer) Dir(session string) string {
	dir, err := filepath.EvalSymlinks(filepath.Join(h.State, "swank-mcp/http/sessions/owner/named", session))
	Check(h.T, err)
	return dir
}
