package launch

import "testing"

// What nobody waits for leaves the processors to others.
func TestLeavesProcessors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ saves, awaited, yields, want bool }{
		{},
		{saves: true, want: true},
		{saves: true, awaited: true},
		{awaited: true, yields: true, want: true},
	} {
		f := imageFiles{awaited: c.awaited, yields: c.yields}
		if got := f.leavesProcessors(c.saves); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
