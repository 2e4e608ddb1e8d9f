package main

import (
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

// tuneForMany has the garbage of a server for many collected before it takes more than its
// part of the memory: the images, which do the work, need the rest.
func tuneForMany() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if limit := partOfMemory(memlimit.FromCgroup, memlimit.FromSystem); limit > 0 {
		debug.SetMemoryLimit(limit)
	}
}

// partOfMemory returns a quarter of the least that one of the providers knows of, and at least
// memoryLimit; 0 where none knows.
func partOfMemory(providers ...memlimit.Provider) int64 {
	least := int64(0)
	for _, of := range providers {
		if bytes, err := of(); err == nil {
			if part := int64(bytes / 4); least == 0 || part < least {
				least = part
			}
		}
	}
	if least == 0 {
		return 0
	}
	return max(least, memoryLimit)
}
