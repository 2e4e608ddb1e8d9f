// Package tier leaves the dear tests to the commands that have the time for them.
//
// A test without a mark runs everywhere. scripts/test runs those with -short, scripts/test more
// runs the tests that begin with [More], and scripts/test nightly those that begin with
// [Nightly]. "go test" runs all but the latter. A script of e2e leaves itself to scripts/test
// more by its own line, [short] skip.
package tier

import (
	"os"
	"testing"
)

// nightly names the variable that lets the nightly tests run.
const nightly = "SWANK_MCP_NIGHTLY"

// More skips t under -short. It is the first statement of a test that costs more than half a
// second of a processor and is not the one story of its thing.
func More(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left to scripts/test more")
	}
}

// Nightly skips t unless SWANK_MCP_NIGHTLY is set. It is the first statement of a test that
// measures how long something takes, soaks, compiles all anew, or starts another Lisp than SBCL.
func Nightly(t testing.TB) {
	t.Helper()
	if os.Getenv(nightly) == "" {
		t.Skip("left to scripts/test nightly, which sets " + nightly)
	}
}
