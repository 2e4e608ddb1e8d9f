//go:build unix

package harness

import (
	"slices"
	"testing"
	"time"
)

// TookLog logs how long something took, in a test of the nightly ones. It judges nothing: what is
// promised is measured by scripts/bench.
func TookLog(t *testing.T, what string, took []time.Duration) {
	t.Helper()
	slices.Sort(took)
	t.Logf("%s: p50 %v, p95 %v, longest %v", what, took[len(took)/2], took[(len(took)*95+99)/100-1], took[len(took)-1])
}
