package lisp

import (
	"flag"
	"syscall"
	"testing"
	"time"
)

var stallRounds = flag.Int("stalls", 0, "how often each test of images that stall is done in each of the ways to stall; 0: once or twice, in a quick way")

// stall is a way in which an image gets the processor now and then.
type stall struct {
	name      string
	run, hold time.Duration // for how long it runs, and then stands still
}

var stallWays = []stall{
	{"3 ms in 100", 3 * time.Millisecond, 97 * time.Millisecond},
	{"10 ms in 200", 10 * time.Millisecond, 190 * time.Millisecond},
	{"300 ms in 3.8 s", 300 * time.Millisecond, 3500 * time.Millisecond},
}

// stalled has the process run for first, and then stand still and run in turn, as w says, until
// the end of the test or until the function returned is called.
func stalled(t *testing.T, pid int, first time.Duration, w stall) (end func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		defer syscall.Kill(pid, syscall.SIGCONT)
		signal, lasts := syscall.SIGCONT, first
		for syscall.Kill(pid, signal) == nil {
			select {
			case <-time.After(lasts):
			case <-stop:
				return
			}
			if signal == syscall.SIGCONT {
				signal, lasts = syscall.SIGSTOP, w.hold
			} else {
				signal, lasts = syscall.SIGCONT, w.run
			}
		}
	}()
	ended := false
	end = func() {
		if !ended {
			ended = true
			close(stop)
			<-done
		}
	}
	t.Cleanup(end)
	return end
}
