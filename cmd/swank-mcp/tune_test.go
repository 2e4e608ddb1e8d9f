package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// A server for many has a quarter of what its control group, or else the machine, has, unless
// its user says otherwise.
func TestTuneForMany(t *testing.T) {
	none := func() (uint64, error) { return 0, memlimit.ErrNoLimit }
	for _, c := range []struct {
		name           string
		group, machine memlimit.Provider
		want           int64
	}{
		{"a group", memlimit.Limit(2 << 30), memlimit.Limit(16 << 30), 2 << 30},
		{"a group with more than there is", memlimit.Limit(64 << 30), memlimit.Limit(16 << 30), 16 << 30},
		{"no group", none, memlimit.Limit(16 << 30), 16 << 30},
		{"a group with no limit", memlimit.Limit(math.MaxUint64), none, math.MaxInt64},
		{"nobody knows", none, none, 0},
	} {
		if got := least(c.group, c.machine); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}

	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	t.Setenv("GOMEMLIMIT", "1GiB") // which the runtime has read when the program began
	if tuneForMany(); debug.SetMemoryLimit(-1) != math.MaxInt64 {
		t.Errorf("the user's limit was changed to %d", debug.SetMemoryLimit(-1))
	}
	t.Setenv("GOMEMLIMIT", "")
	machine, err := memlimit.FromSystem()
	if err != nil {
		t.Fatalf("the memory of this machine is not known: %v", err)
	}
	if tuneForMany(); debug.SetMemoryLimit(-1) > int64(machine/4) || debug.SetMemoryLimit(-1) < memoryLimit {
		t.Errorf("the limit is %d of %d", debug.SetMemoryLimit(-1), machine)
	}
}
