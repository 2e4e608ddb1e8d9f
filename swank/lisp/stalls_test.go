package lisp

import (
	"flag"
	"strings"
	"syscall"
	"testing"
	"time"
)

var stalls = flag.Bool("stalls", false, "stop evaluations in images that get the processor now and then, for minutes")

// stepped has the process run for run and then stand still for hold, again and again, until
// the end of the test or until the function returned is called.
func stepped(t *testing.T, pid int, run, hold time.Duration) (end func()) {
	t.Helper()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			syscall.Kill(pid, syscall.SIGSTOP)
			select {
			case <-time.After(hold):
			case <-stop:
				syscall.Kill(pid, syscall.SIGCONT)
				return
			}
			syscall.Kill(pid, syscall.SIGCONT)
			time.Sleep(run)
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

// An image that gets the processor now and then is not given up: what is to stop in it stops,
// and no reply says anything else.
func TestStopsInAnImageThatStalls(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		run, hold time.Duration
		times     int
	}{
		{"3 ms in 100", 3 * time.Millisecond, 97 * time.Millisecond, 5},
		{"10 ms in 200", 10 * time.Millisecond, 190 * time.Millisecond, 5},
		{"300 ms in 3.8 s", 300 * time.Millisecond, 3500 * time.Millisecond, 3},
	} {
		times := 1
		if *stalls {
			times = c.times
		} else if c.hold > time.Second {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			im := testImage(t)
			mustEval(t, im, "(defvar *cleaned* 0)")
			pid := im.cur.proc.PID()
			end := stepped(t, pid, c.run, c.hold)
			for range times {
				for _, code := range []string{"(loop)", "(sleep 100)", "(unwind-protect (loop) (dotimes (i 1000) (incf *cleaned* 1/1000)))"} {
					began := time.Now()
					f := failing(t, im, code, time.Second)
					if f.Kind != KindTimeout || f.Type != "" {
						t.Errorf("%s: %+v", code, f)
					}
					t.Logf("%s: answered %v after its time limit", code, time.Since(began)-time.Second)
				}
			}
			end()
			if got, notes := evaluated(t, im, "*cleaned*"); got != [...]string{1: "1", 3: "3", 5: "5"}[times] || notes != "" {
				t.Errorf("cleaned up %s times, of %d; notes: %s", got, times, notes)
			}
			if now := im.cur.proc.PID(); now != pid {
				t.Errorf("the image is process %d, no longer %d", now, pid)
			}
		})
	}
}

// An image that is stopped is asked to stop its evaluation, and stays. The reply says what is
// known; a later one says what has become of it.
func TestStopInAnImageThatIsStopped(t *testing.T) {
	im := testImage(t)
	defer func(d time.Duration) { stallLimit = d }(stallLimit)
	stallLimit = 2 * time.Second
	mustEval(t, im, "(defvar *kept* 41)")
	pid := im.cur.proc.PID()
	g := newGate(t)
	wait := background(t, t.Context(), im, "(progn "+g.sign()+" (loop))", 2*time.Second)
	g.reached()
	stopped(t, pid)
	res, err := wait()
	if err != nil || res.Failure == nil || res.Failure.Kind != KindTimeout || res.Failure.Type != typeNotStopped ||
		!strings.Contains(res.Failure.Message, "was stopped, or without a processor or memory, for 2") ||
		strings.Contains(res.Failure.Message, "could not be stopped") {
		t.Fatalf("answered %+v, %v", res.Failure, err)
	}
	signal(t, pid, syscall.SIGCONT)
	value, notes := evaluated(t, im, "(incf *kept*)")
	if value != "42" || !strings.Contains(notes, "was stopped when it answered again") {
		t.Errorf("when it runs again: %s; notes: %s", value, notes)
	}
	if now := im.cur.proc.PID(); now != pid {
		t.Errorf("the image is process %d, no longer %d", now, pid)
	}
}
