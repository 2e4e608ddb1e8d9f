//go:build unix

package harness

import (
	"regexp"
	"testing"

	"swank-mcp/e2e/wire"
)

// WithSystems starts a server whose ASDF knows the fixtures, by the
// environment, and compiles them anew.
func WithSystems(t *testing.T, args ...string) *Server {
	t.Helper()
	dir := SystemsDir()
	return StartWith(t, wire.Options{Env: Environ(Run.Dir,
		"CL_SOURCE_REGISTRY="+dir+"/:",
		OurFasls(dir, t.TempDir()))}, args...)
}

// SystemsDir returns the directory of the systems that tests load.
func SystemsDir() string { return Testdata("systems") }

// Load loads a system, which must succeed, and returns the text.
func Load(t *testing.T, s *Server, system string) string {
	t.Helper()
	return Good(t, s, "load-system", Object{"system": system})
}

// built is the line of load-system about what was compiled. Most tests do not look at it,
// because it depends on what other tests have compiled before.
var built = regexp.MustCompile(`(?m)^(Defined in: .*)\n(?:Compiled: .*|\d+ files? w(?:as|ere) up to date)$`)

// WithoutBuilt returns the text without the line of [built].
func WithoutBuilt(text string) string { return built.ReplaceAllString(text, "$1") }
