package http

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// Two servers share a directory. When one is killed, its session goes on at the other with
// what it had defined, and so does a connection with a handshake, of which the session's code
// can read nothing. On one machine that takes no lease's time.
func TestHTTPShared(t *testing.T) {
	t.Parallel()
	state := t.TempDir()
	a := harness.StartHTTP(t, state, "--lease", "60")
	b := harness.StartHTTP(t, state, "--lease", "60")
	id, answer := a.Asked("/s/n/mcp", "", harness.Object{"id": 1, "method": "initialize", "params": harness.Object{
		"protocolVersion": "2025-11-25", "capabilities": harness.Object{}, "clientInfo": harness.Object{"name": "e2e", "version": "1"}}})
	if id == "" {
		t.Fatal(answer)
	}
	a.Asked("/s/n/mcp", id, harness.Object{"method": "notifications/initialized"})
	eval := func(h *harness.HTTPServer, code string) string {
		_, answer := h.Asked("/s/n/mcp", id, harness.Object{"id": harness.HTTPRequests.Add(1), "method": "tools/call", "params": harness.Object{
			"name": "evaluate-lisp", "arguments": harness.Object{"code": code}}})
		return answer
	}
	if answer := eval(a, "(defun f (x) (* 2 x))"); !strings.Contains(answer, "F") {
		t.Fatal(answer)
	}
	sessions := filepath.Join(state, "swank-mcp", "http", "sessions", "owner")
	files, err := filepath.Glob(filepath.Join(sessions, "handshakes", "n", "*"))
	harness.Check(t, err)
	if len(files) != 1 || strings.Contains(files[0], id) {
		t.Fatalf("%v of %s", files, id)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if answer := eval(a, fmt.Sprintf("(handler-case (with-open-file (s %q) (read-line s)) (error () :refused))", files[0])); !strings.Contains(answer, ":REFUSED") {
		t.Errorf("the session reads of its connections: %s", answer)
	}
	a.Cmd.Process.Kill()
	<-a.Ended
	if answer := eval(b, "(f 21)"); !strings.Contains(answer, "42") || !strings.HasPrefix(answer, "200 ") {
		t.Errorf("the other one answers %s", answer)
	}
	if _, answer := b.Asked("/s/other/mcp", id, harness.Object{"id": 9, "method": "ping"}); !strings.HasPrefix(answer, "404 ") {
		t.Errorf("another session knows the connection: %s", answer)
	}
}
