//go:build unix

package harness

import (
	"os"
	"testing"

	"swank-mcp/internal/await"
)

// Open opens the connection to a server.
func Open(t *testing.T, s *Server) {
	t.Helper()
	ctx := await.Context(t)
	if _, err := s.Open(ctx); err != nil {
		t.Fatal(err)
	}
}

// ShortDir is a directory whose path is short enough for a socket in it.
func ShortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(Run.Dir, "t")
	Check(t, err)
	return dir
}
