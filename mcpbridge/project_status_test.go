package mcpbridge

import (
	"strings"
	"testing"
)

// A server that only looks starts no fresh image, whose files would run code, and says so.
func TestProjectStatusReadOnly(t *testing.T) {
	const clean = "What is loaded is what is on disk: system alexandria, 1 file, 2 definitions."
	if got := serve(t, Options{}).handshake().call("project-status", `{}`).text(); got != clean {
		t.Errorf("%q, want %q", got, clean)
	}
	got := serve(t, Options{Tools: Selection{ReadOnly: true}}).handshake().call("project-status", `{}`).text()
	if !strings.HasPrefix(got, "Nothing is certain to differ from the files of system alexandria, ") ||
		!strings.HasSuffix(got, "no fresh image has loaded the files: swank-mcp was started with --read-only.") {
		t.Errorf("with --read-only: %q", got)
	}
}
