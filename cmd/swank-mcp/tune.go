package main

import (
	"math"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

// memoryLimit is the size of the heap from which on garbage is collected at once. What
// is in use stays below it: mcpbridge bounds what is in flight.
const memoryLimit = 36 << 20

// tune fits the garbage collector to a process that mostly waits: the SDK allocates
// 64 kB a call, and so it runs at a heap of some 12 MB instead of 4.
func tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}

// tuneForMany has garbage collected when there is half as much as is in use, and at once when both
// are more than a part of the memory: the images, which do the work, need the rest. What one call
// leaves, as of a text of megabytes, is not there eight times when eight come at once.
func tuneForMany() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if there := memory(); there > 0 {
		debug.SetMemoryLimit(max(there/4, memoryLimit))
	}
}

// memory returns how many bytes this process and its images may have: those of the machine, or of the
// control group if that is less; 0 where that is not known.
func memory() int64 { return least(memlimit.FromCgroup, memlimit.FromSystem) }

// least returns the least that one of the providers knows of; 0 where none knows.
func least(providers ...memlimit.Provider) (least int64) {
	for _, of := range providers {
		if bytes, err := of(); err == nil && (least == 0 || bytes < uint64(least)) {
			least = int64(min(bytes, math.MaxInt64))
		}
	}
	return least
}
