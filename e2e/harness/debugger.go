//go:build unix

package harness

import (
	"strings"
	"testing"
)

// Suspend leaves an evaluation in the debugger and returns its reply.
func Suspend(t *testing.T, s *Server, code string) string {
	t.Helper()
	r := Call(t, s, "evaluate-lisp", Object{"code": code, "on-error": "debug"})
	if !r.IsError || !strings.Contains(r.Text(), "\n[Restarts]\n") || !strings.Contains(r.Text(), " is suspended here") {
		t.Fatalf("%s was not suspended (isError %v):\n%s", code, r.IsError, r.Text())
	}
	return r.Text()
}
