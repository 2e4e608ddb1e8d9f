//go:build unix

package harness

import (
	"fmt"
	"path/filepath"
)

// Shell has the code of a session run a program of the system's, and wants it to do so.
func (h *HTTPServer) Shell(path, script string) {
	h.T.Helper()
	h.Wants(path, fmt.Sprintf("(uiop:run-program %q :output :string :error-output :string)", script), "…=> \"\"…=> 0…")
}

// KeptDir is where the server keeps what a session defines.
func (h *HTTPServer) KeptDir(session string) string {
	return filepath.Join(h.State, "swank-mcp/http/sessions/owner/kept", session)
}
