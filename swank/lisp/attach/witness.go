package attach

import (
	"fmt"
	"slices"
)

// A witness looks now and then at a Lisp that takes nothing. It is for one goroutine at a time.
type witness struct {
	lisp  Lisp
	ran   int64 // nanoseconds of the processor when it was looked at last
	still int   // looks in a row that saw nothing run since the one before
}

// stillLooks is how many such looks make a process one that stands still: one that runs now
// and then, as on a machine that is busy or sleeps, is seen to.
const stillLooks = 2

// stands reports whether the process of the Lisp, or that of the way there, has ended, or has
// been stopped or idle without any time of the processor. First is whether the silence is new.
func (w *witness) stands(first bool) bool {
	switch w.lisp.condition() {
	case processGone, processWayGone:
		return true
	case processUnknown, processElsewhere, processBusy:
		w.still = 0
		return false
	}
	ran := w.lisp.ran()
	if first || ran-w.ran >= atWork {
		w.ran, w.still = ran, 0
		return false
	}
	w.ran = ran
	w.still++
	return w.still >= stillLooks
}

// ran returns how long the process of l and that of the way there have had a processor.
func (l Lisp) ran() (nanoseconds int64) {
	dirs := []string{fmt.Sprintf("/proc/%d", l.pid), fmt.Sprintf("/proc/%d", l.way.pid)}
	if l.way.group {
		dirs = slices.DeleteFunc(processes(), func(dir string) bool { return processGroup(dir) != l.way.pid })
	}
	for _, dir := range dirs {
		n, _ := processorTime(dir)
		nanoseconds += n
	}
	return nanoseconds
}
