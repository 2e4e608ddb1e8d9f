package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// long is how long a test waits for what must come, but need not come soon. It costs time
// only where something is wrong.
const long = time.Minute

// gate is Lisp code that waits until open is called. What is to last as long as a test looks
// at it waits so, for no clock is right on every machine.
func gate(t *testing.T) (code string, open func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "open")
	return fmt.Sprintf("(loop until (probe-file %q) do (sleep 0.01))", file), func() {
		t.Helper()
		write(t, file, "")
	}
}

// signal is Lisp code that says that it was reached, and what waits for that. Code that was
// sent is compiled first, which takes as long as the machine likes.
func signal(t *testing.T) (code string, reached func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "reached")
	return fmt.Sprintf("(close (open %q :direction :output))", file), func() {
		t.Helper()
		if !eventually(long, func() bool { _, err := os.Stat(file); return err == nil }) {
			t.Fatal("the code does not begin")
		}
	}
}

// inTime wants what once measures to be within limit at best: others on the machine can make
// it longer, and nobody can make it shorter. If they never rest it is a matter of the [pace].
func inTime(t *testing.T, limit time.Duration, once func() time.Duration) {
	t.Helper()
	var took []time.Duration
	for range 5 {
		before := measuredPace()
		took = append(took, once())
		if before.allows(took[len(took)-1], limit) {
			return
		}
	}
	t.Errorf("it took %v, each time longer than %v", took, limit)
}

// soon wants 95 % of what series measures to be within limit. A load of some seconds can spoil
// a series, so that one of three is enough; a longer one is a matter of the [pace].
func soon(t *testing.T, what string, limit time.Duration, series func() []time.Duration) {
	t.Helper()
	var slow []time.Duration
	for range 3 {
		before := measuredPace()
		took := series()
		slices.Sort(took)
		p95 := took[(len(took)*95+99)/100-1]
		t.Logf("%s: p50 %v, p95 %v, longest %v", what, took[len(took)/2], p95, took[len(took)-1])
		if before.allows(p95, limit) {
			return
		}
		slow = append(slow, p95)
	}
	t.Errorf("%s: p95 is %v in three series, want at most %v", what, slow, limit)
}

// pace is how many times as long as alone a computation takes, because others use the
// processors, too. A limit of time that a test cannot do without is for a machine that does
// nothing else.
type pace float64

// measuredPace is the pace of this moment. A system that does not tell the processor's time of
// a thread has 1.
func measuredPace() pace {
	const thread, enough = 1, 50 * time.Millisecond // RUSAGE_THREAD
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var use syscall.Rusage
	spent := func() time.Duration { return time.Duration(use.Utime.Nano() + use.Stime.Nano()) }
	if syscall.Getrusage(thread, &use) != nil {
		return 1
	}
	for began, before := time.Now(), spent(); ; {
		if syscall.Getrusage(thread, &use) != nil {
			return 1
		}
		if all := spent() - before; all >= enough {
			return max(1, pace(time.Since(began).Seconds()/all.Seconds()))
		}
	}
}

// allows reports whether took is within limit, at the slower of two paces: before, which was
// measured before what took so long, and that of now.
func (before pace) allows(took, limit time.Duration) bool {
	return took <= limit || took <= time.Duration(float64(limit)*float64(max(before, measuredPace())))
}

// touchedPages is how many pages of memory all processes together have touched for the first
// time, since the system was started; 0 where that is not told.
func touchedPages(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	if _, rest, ok := strings.Cut(string(text), "\npgfault "); ok {
		if _, err := fmt.Sscan(rest, &n); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// slowMemory is how much longer than on a usual machine the first touch of so many pages
// takes: under some hypervisors it is ten times as long.
func slowMemory(t *testing.T, pages int) time.Duration {
	t.Helper()
	const sample, usual = 8192, 2 * time.Microsecond
	memory, err := syscall.Mmap(-1, 0, sample*os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Munmap(memory) }()
	began := time.Now()
	for i := 0; i < len(memory); i += os.Getpagesize() {
		memory[i] = 1
	}
	return max(0, time.Since(began)/sample-usual) * time.Duration(pages)
}
