package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// said sends a message of the era with handshakes, and returns the id of the connection and
// the answer.
func (h *httpServer) asked(path, id string, message object) (conn, answer string) {
	h.t.Helper()
	message["jsonrpc"] = "2.0"
	body, err := json.Marshal(message)
	check(h.t, err)
	r, err := http.NewRequestWithContext(h.t.Context(), "POST", h.url+path, bytes.NewReader(body))
	check(h.t, err)
	for k, v := range map[string]string{"Authorization": "Bearer " + h.token, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
		r.Header.Set(k, v)
	}
	if id != "" {
		r.Header.Set("Mcp-Session-Id", id)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	resp, err := h.client.Do(r)
	check(h.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	check(h.t, err)
	return resp.Header.Get("Mcp-Session-Id"), fmt.Sprintf("%d %s", resp.StatusCode, text)
}

// Two servers share a directory. When one is killed, its session goes on at the other with
// what it had defined, and so does a connection with a handshake, of which the session's code
// can read nothing. On one machine that takes no lease's time.
func TestHTTPShared(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a := startHTTP(t, state, "--lease", "60")
	b := startHTTP(t, state, "--lease", "60")
	id, answer := a.asked("/s/n/mcp", "", object{"id": 1, "method": "initialize", "params": object{
		"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "e2e", "version": "1"}}})
	if id == "" {
		t.Fatal(answer)
	}
	a.asked("/s/n/mcp", id, object{"method": "notifications/initialized"})
	eval := func(h *httpServer, code string) string {
		_, answer := h.asked("/s/n/mcp", id, object{"id": httpRequests.Add(1), "method": "tools/call", "params": object{
			"name": "evaluate-lisp", "arguments": object{"code": code}}})
		return answer
	}
	if answer := eval(a, "(defun f (x) (* 2 x))"); !strings.Contains(answer, "F") {
		t.Fatal(answer)
	}
	sessions := filepath.Join(state, "swank-mcp", "http", "sessions", "owner")
	files, err := filepath.Glob(filepath.Join(sessions, "handshakes", "n", "*"))
	check(t, err)
	if len(files) != 1 || strings.Contains(files[0], id) {
		t.Fatalf("%v of %s", files, id)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if answer := eval(a, fmt.Sprintf("(handler-case (with-open-file (s %q) (read-line s)) (error () :refused))", files[0])); !strings.Contains(answer, ":REFUSED") {
		t.Errorf("the session reads of its connections: %s", answer)
	}
	a.cmd.Process.Kill()
	<-a.ended
	if answer := eval(b, "(f 21)"); !strings.Contains(answer, "42") || !strings.HasPrefix(answer, "200 ") {
		t.Errorf("the other one answers %s", answer)
	}
	if _, answer := b.asked("/s/other/mcp", id, object{"id": 9, "method": "ping"}); !strings.HasPrefix(answer, "404 ") {
		t.Errorf("another session knows the connection: %s", answer)
	}
}
