//go:build unix

package harness

import (
	"strings"
	"testing"
)

// List calls list-definitions, which never fails but for wrong arguments.
func List(t *testing.T, s *Server, args Object) string {
	t.Helper()
	return Good(t, s, "list-definitions", args)
}

// WantList compares the text of list-definitions line for line.
func WantList(t *testing.T, s *Server, args map[string]any, text string) {
	t.Helper()
	WantReply(t, s, "list-definitions", args, text)
}

// Have loads a system of a Debian package; without it the test fails and says
// what to install.
func Have(t *testing.T, s *Server, system, debian string) string {
	t.Helper()
	r := Call(t, s, "load-system", Object{"system": system})
	if strings.Contains(r.Text(), "ASDF:MISSING-COMPONENT") {
		t.Fatalf("this test needs the Debian package %s (scripts/install-deps --test installs it):\n%s", debian, r.Text())
	}
	if r.IsError {
		t.Fatalf("loading %s:\n%s", system, Clip(r.Text()))
	}
	return r.Text()
}
