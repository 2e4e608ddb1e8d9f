package e2e

import (
	"flag"
	"strings"
	"syscall"
	"testing"
	"time"
)

var stallsFlag = flag.Bool("attach.stalls", false, "attach also to a Lisp that is stopped for 3.5 s in 3.8, which takes minutes")

// stepped lets a process run for a part of each period, until the test ends.
func stepped(t *testing.T, pid int, runs, period time.Duration) {
	t.Helper()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer syscall.Kill(pid, syscall.SIGCONT)
		for {
			for _, step := range []struct {
				signal syscall.Signal
				lasts  time.Duration
			}{{syscall.SIGSTOP, period - runs}, {syscall.SIGCONT, runs}} {
				syscall.Kill(pid, step.signal)
				select {
				case <-end:
					return
				case <-time.After(step.lasts):
				}
			}
		}
	}()
	t.Cleanup(func() {
		close(end)
		<-ended
	})
}

// A Lisp that hardly gets the processor is attached to in the end, and until then nothing is
// said of it that is not so.
func TestAttachStalled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		runs, period time.Duration
		slow         bool
	}{
		{"3 ms in 100", 3 * time.Millisecond, 100 * time.Millisecond, false},
		{"0.3 s in 3.8", 300 * time.Millisecond, 3800 * time.Millisecond, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && !*stallsFlag {
				t.Skip("-attach.stalls has it run")
			}
			t.Parallel()
			p := newPerson(t, "")
			s := attached(t, p)
			stepped(t, p.pid(), c.runs, c.period)
			for {
				got := call(t, s, "session-status", object{}).Text()
				began := time.Now()
				text, _ := evalWithin(t, s, "(+ 1 2)", 60)
				t.Logf("after %v: %s", time.Since(began), clip(text))
				got += text
				for _, untrue := range []string{"no Swank at", "no Lisp at", "does nothing", "has ended", "lost", "is gone", "nothing listens"} {
					if strings.Contains(got, untrue) {
						t.Fatalf("it says %q of a Lisp that is slow:\n%s", untrue, got)
					}
				}
				if text == "=> 3" {
					return
				}
			}
		})
	}
}
