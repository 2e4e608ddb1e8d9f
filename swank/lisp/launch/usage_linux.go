package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ticks is in how many parts of a second the kernel tells times, on all that Go runs on.
const ticks = 100

// CPU is how long the image, its copies and the programs that it has started have had the
// processor. It is less than before when one has ended that nobody has waited for, but in a
// sandbox with a control group.
func (p *Process) CPU() (used time.Duration) {
	if p.wrapped != nil && p.wrapped.CPU != nil {
		if used, ok := p.wrapped.CPU(); ok {
			return used
		}
	}
	for _, pid := range family(p.pid) {
		used += timeOf(pid)
	}
	return used
}

// Memory is how many bytes of the machine's memory the image, its copies and the programs that
// it has started have: their share of what several have in common. To find that out takes
// some milliseconds for each GB.
func (p *Process) Memory() (n int64) {
	for _, pid := range family(p.pid) {
		n += pss(pid)
	}
	return n
}

// familyMost is of how many processes of an image the system is asked.
const familyMost = 1000

// family are a process and those below it, which may end at any time.
func family(pid int) []int {
	pids := []int{pid}
	for i := 0; i < len(pids) && len(pids) < familyMost; i++ {
		lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/[0-9]*/children", pids[i]))
		for _, list := range lists {
			text, _ := os.ReadFile(list)
			for _, word := range strings.Fields(string(text)) {
				if child, err := strconv.Atoi(word); err == nil && !slices.Contains(pids, child) {
					pids = append(pids, child)
				}
			}
		}
	}
	return pids
}

// timeOf is how long a process, and those that it has waited for, have had the processor;
// see proc(5).
func timeOf(pid int) (used time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // it has ended
	}
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const first, last = 11, 14 // utime, stime, cutime, cstime
	if len(words) <= last {
		return 0
	}
	for _, word := range words[first : last+1] {
		n, _ := strconv.ParseInt(word, 10, 64)
		used += time.Duration(n) * time.Second / ticks
	}
	return used
}

// pss is the memory of a process in bytes: its share of what it has in common with others.
func pss(pid int) int64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	_, rest, _ := strings.Cut(string(text), "\nPss:")
	kB, _, _ := strings.Cut(rest, " kB")
	n, _ := strconv.ParseInt(strings.TrimSpace(kB), 10, 64)
	return n << 10
}
