//go:build unix

package harness

import (
	"testing"
)

// ListPackages returns the text of list-packages.
func ListPackages(t *testing.T, s *Server, args Object) string {
	t.Helper()
	return Good(t, s, "list-packages", args)
}
