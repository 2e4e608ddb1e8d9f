//go:build unix

package harness

import (
	"syscall"
	"testing"

	"swank-mcp/internal/await"
)

// Kill9 ends the image of s and waits until it is gone.
func Kill9(t *testing.T, s *Server) {
	t.Helper()
	pid := ImagePID(t, s)
	Check(t, syscall.Kill(pid, syscall.SIGKILL))
	if await.Until(func() bool { return syscall.Kill(pid, 0) != nil }) != nil {
		t.Fatalf("process %d is still there", pid)
	}
}
