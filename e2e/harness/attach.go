//go:build unix

package harness

import (
	"testing"

	"swank-mcp/e2e/wire"
)

// Attached starts a server in p's image.
func Attached(t *testing.T, p *Person, args ...string) *Server {
	t.Helper()
	return AttachedTo(t, p.Address, Run.Dir, args...)
}

// AttachedTo starts a server that attaches to the address, with that home directory.
func AttachedTo(t *testing.T, address, home string, args ...string) *Server {
	t.Helper()
	Check(t, Run.WarmGuest())
	s := StartCold(t, wire.Options{Env: Environ(home)}, append([]string{"--attach", address}, args...)...)
	Open(t, s)
	return s
}
