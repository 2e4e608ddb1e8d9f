package attach

import (
	"fmt"
	"slices"
	"time"
)

// A witness looks now and then at a Lisp that takes nothing. It is for one goroutine at a time.
type witness struct {
	lisp  Lisp
	ran   int64 // nanoseconds of the processor when it was looked at last
	led   int64 // those of the way there
	still int   // looks in a row that saw nothing run since the one before

	waited time.Duration // when it was looked at last
	able   time.Duration // for how long it could have read meanwhile
}

// stillLooks is how many such looks make a process one that stands still: one that runs now
// and then, as on a machine that is busy or sleeps, is seen to.
const stillLooks = 2

// stands reports whether the Lisp takes nothing for good, after it has been waited for so long:
// its process, or that of the way there, has ended, or has been stopped or idle without any time
// of the processor, or could have read for writeLimit. While both wait of their own accord, as one
// that wakes now and then does, all time counts for that, and else what they had of the processor.
// Where nothing can be seen of them, all time counts, too. It is called every writePause.
func (w *witness) stands(waited time.Duration) bool {
	c := w.lisp.condition()
	switch c {
	case processGone, processWayGone:
		return true
	case processUnknown, processElsewhere:
		return waited >= writeLimit
	}
	ran, led, want := w.lisp.ran()
	since, passed := time.Duration(led-w.led), waited-w.waited
	if c != processWayStopped { // behind one that passes nothing the Lisp may do what it likes
		since += time.Duration(ran - w.ran)
	}
	switch {
	case waited <= writePause: // the silence is new
		w.still, w.able = 0, 0
	case c != processBusy && int64(since) < atWork:
		w.still++
	case want || c == processStopped || c == processWayStopped:
		w.still = 0
		w.able += min(since, passed)
	default:
		w.still = 0
		w.able += passed
	}
	w.ran, w.led, w.waited = ran, led, waited
	return w.still >= stillLooks || w.able >= writeLimit
}

// ran returns for how many nanoseconds the process of l, and that of the way there, have had a
// processor, and whether one of them wants one, or waits for a disk.
func (l Lisp) ran() (lisp, way int64, want bool) {
	dirs := []string{fmt.Sprintf("/proc/%d", l.way.pid)}
	if !l.way.group {
		lisp, want = processorTime(fmt.Sprintf("/proc/%d", l.pid))
	} else { // the Lisp may be one of them
		dirs = slices.DeleteFunc(processes(), func(dir string) bool { return processGroup(dir) != l.way.pid })
	}
	for _, dir := range dirs {
		n, wants := processorTime(dir)
		way, want = way+n, want || wants
	}
	return lisp, way, want
}
