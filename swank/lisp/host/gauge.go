package host

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Gauge measures for how long a process, or one thread of it, could do something: it ran, or
// it waited of its own accord. While it is stopped, or wants a processor or a page of memory
// and has none, it can do nothing, whatever a clock says.
//
// Where the system has no /proc, or nothing is known of the process, all time counts. A Gauge
// is for one goroutine; make one with [NewGauge].
type Gauge struct {
	dir    string // of the process in /proc; "" for one that is not known
	thread string // "" for all threads
	seen   time.Time
	used   time.Duration // of processors, by then
}

// NewGauge returns a gauge of the process pid, of which 0 means that it is not known.
func NewGauge(pid int) *Gauge {
	g := &Gauge{seen: time.Now()}
	if pid != 0 {
		g.dir = fmt.Sprintf("/proc/%d", pid)
	}
	g.used, _, _ = g.look()
	return g
}

// Follow has g measure one thread from now on, by the system's number of it.
func (g *Gauge) Follow(thread int) {
	g.thread = strconv.Itoa(thread)
	g.used, _, _ = g.look()
}

// Chance returns for how long the process or thread could do something since the last call,
// or since g was made.
func (g *Gauge) Chance() time.Duration {
	now := time.Now()
	passed := now.Sub(g.seen)
	g.seen = now
	used, waits, known := g.look()
	worked := used - g.used
	g.used = used
	if !known || waits {
		return passed
	}
	return max(0, min(passed, worked))
}

// look returns what g measures has had of processors, and whether it waits of its own accord.
func (g *Gauge) look() (used time.Duration, waits, known bool) {
	if g.dir == "" {
		return 0, false, false
	}
	if g.thread != "" {
		used, state := stat(filepath.Join(g.dir, "task", g.thread))
		if state != 0 {
			return used, idle(state), true
		}
		g.thread = "" // it has ended
	}
	used, state := stat(g.dir)
	if state == 0 {
		return 0, false, false
	}
	threads, _ := filepath.Glob(filepath.Join(g.dir, "task", "[0-9]*"))
	for _, dir := range threads {
		if _, state := stat(dir); state != 0 && !idle(state) {
			return used, false, true
		}
	}
	return used, true, true
}

// idle reports whether a state of proc(5) is that of a thread that waits of its own accord, or
// is at its end.
func idle(state byte) bool { return strings.IndexByte("SIZX", state) >= 0 }

// ticks is in how many parts of a second the kernel tells times, on all that Go runs on.
const ticks = 100

// stat reads what proc(5) says of the process or thread in dir: its time of processors, and
// its state, 0 if there is none.
func stat(dir string) (used time.Duration, state byte) {
	text, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, 0
	}
	words := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	const first, last = 11, 12 // utime, stime
	if len(words) <= last {
		return 0, 0
	}
	for _, word := range words[first : last+1] {
		n, _ := strconv.ParseInt(word, 10, 64)
		used += time.Duration(n) * time.Second / ticks
	}
	return used, words[0][0]
}
