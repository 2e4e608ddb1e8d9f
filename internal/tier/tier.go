// Package tier leaves the dear tests to the commands that have the time for them.
//
// A test without a mark runs everywhere. scripts/test runs those with -short, scripts/test more
// runs the tests that begin with [More], and scripts/test nightly those that begin with
// [Nightly]. "go test" runs all but the latter. A script of e2e leaves itself to scripts/test
// more or nightly by its own line, [short] skip or [!nightly] skip.
package tier

import (
	"flag"
	"os"
	"strconv"
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
	if !AtNight() {
		t.Skip("left to scripts/test nightly, which sets " + nightly)
	}
}

// Tries returns usual, or nightly where scripts/test nightly runs. It serves a test that would take too
// long at each commit. A test calls it itself: scripts/test nightly runs those that do.
func Tries(t testing.TB, usual, nightly int) int {
	t.Helper()
	n := usual
	if AtNight() {
		n = nightly
	}
	t.Logf("%d tries", n)
	return n
}

// AtNight reports whether scripts/test nightly runs.
func AtNight() bool { return os.Getenv(nightly) != "" }

// seed names the variable with the seed of the tests that try things at random.
const seed = "SWANK_MCP_SEED"

// Seed returns the seed of a test that tries things at random, and logs it: 1, or what
// SWANK_MCP_SEED says, which scripts/test nightly sets to another number each time.
func Seed(t testing.TB) uint64 {
	t.Helper()
	n := uint64(1)
	if text := os.Getenv(seed); text != "" {
		var err error
		if n, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("%s is no number: %v", seed, err)
		}
	}
	t.Logf("%s=%d", seed, n)
	return n
}

// SeedRapid has rapid.Check begin with the seed that [Seed] returns, unless -rapid.seed names
// one. Other tests of the package must not use rapid meanwhile.
func SeedRapid(t testing.TB) {
	t.Helper()
	if f := flag.Lookup("rapid.seed"); f == nil {
		t.Fatal("the package does not import rapid")
	} else if f.Value.String() == "0" {
		if err := f.Value.Set(strconv.FormatUint(Seed(t), 10)); err != nil {
			t.Fatal(err)
		}
	}
}
