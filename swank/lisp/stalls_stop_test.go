package lisp

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
)

// An image that gets the processor now and then is not given up: what is to stop in it stops,
// and no reply says anything else.
func TestStopsInAnImageThatStalls(t *testing.T) {
	t.Parallel()
	ways, times := stall.Ways, *stall.Rounds
	if times == 0 {
		ways, times = ways[:2], 1
	}
	for _, w := range ways {
		t.Run(w.Name, func(t *testing.T) {
			t.Parallel()
			im := testImage(t)
			mustEval(t, im, "(progn (defvar *begun* 0) (defvar *cleaned* 0))")
			pid := im.cur.proc.PID()
			end := stall.Process(t, pid, w.Run, w)
			stopped := func(code string) {
				began := time.Now()
				f := failing(t, im, code, time.Second)
				if f.Kind != KindTimeout || f.Type != "" {
					t.Errorf("%s: %+v", code, f)
				}
				t.Logf("%s: answered %v after its time limit", code, time.Since(began)-time.Second)
			}
			for round := range times {
				stopped("(loop)")
				stopped("(sleep 100)")
				// Where the processors are busy, too, the limit can be over before the code has been compiled.
				for n := 0; n < 20 && mustEval(t, im, "*begun*") == fmt.Sprint(round); n++ {
					stopped("(unwind-protect (progn (incf *begun*) (loop)) (dotimes (i 1000) (dotimes (j 50000)) (incf *cleaned* 1/1000)))")
				}
			}
			end()
			if got, notes := evaluated(t, im, "(list *begun* *cleaned*)"); got != fmt.Sprintf("(%d %[1]d)", times) || notes != "" {
				t.Errorf("begun and cleaned up: %s, of %d each; notes: %s", got, times, notes)
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
	g := await.NewGate(t)
	wait := background(t, t.Context(), im, "(progn "+g.Sign()+" (loop))", 2*time.Second)
	g.Reached()
	stall.Stop(t, pid)
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
