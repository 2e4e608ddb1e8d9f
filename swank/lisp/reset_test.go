package lisp

import (
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/stall"
	"swank-mcp/internal/tier"
)

// asleep returns an image with definitions in which nothing answers, and its pid.
func asleep(t *testing.T) (*Image, int) {
	t.Helper()
	// a request waits for a checkpoint that is being taken as the image is stopped, and is not sent
	im := imageOf(t, Config{Launch: launched(t), NoCheckpoints: true})
	mustEval(t, im, "(defun kept () 42) (setf loose 1)")
	if _, err := im.Session("default").Packages(t.Context()); err != nil { // its threads are there
		t.Fatal(err)
	}
	if _, err := im.Session("default").DescribeSymbol(t.Context(), "car", ""); err != nil {
		t.Fatal(err)
	}
	pid := im.cur.proc.PID()
	stall.Stop(t, pid)
	return im, pid
}

func signal(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

// killed ends the image and waits until that is known.
func killed(t *testing.T, im *Image, pid int) {
	t.Helper()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	signal(t, pid, syscall.SIGKILL)
	<-inst.proc.Exited()
}

// evaluated returns the first value of code, or the type of its error, and the notes.
func evaluated(t *testing.T, im *Image, code string) (value, notes string) {
	t.Helper()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: code, Timeout: time.Minute, Debug: 1})
	if err != nil {
		t.Fatal(err)
	}
	notes = strings.Join(res.Notes, "\n")
	if res.Failure != nil {
		return res.Failure.Type, notes
	}
	return res.Values[0].Head, notes
}

// A reset that the image did not answer has not happened until it says so: if it
// dies first, the definitions come back.
func TestUnansweredResetKeepsTheJournal(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im, pid := asleep(t)
	_, err := im.Session("default").ResetSession(t.Context(), time.Second)
	var u *UnansweredError
	if !errors.As(err, &u) || u.Kind != KindTimeout || !strings.Contains(u.Why, "Whether the session was reset is not known") {
		t.Fatalf("ResetSession = %v", err)
	}
	killed(t, im, pid)
	if value, notes := evaluated(t, im, "(kept)"); value != "42" ||
		!strings.Contains(notes, "call it again") || !strings.Contains(notes, "Restored: 1 definition.") {
		t.Errorf("after the image died: %s, %s", value, notes)
	}
}

// One that is done late takes the journal with it, but not what came after it.
func TestLateResetTakesTheJournal(t *testing.T) {
	t.Parallel()
	im, pid := asleep(t)
	s := im.Session("default")
	for limit := 300 * time.Millisecond; len(s.resets) == 0; limit *= 2 { // until one has been sent
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		_, err := s.ResetSession(ctx, time.Minute)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("ResetSession = %v", err)
		}
	}
	signal(t, pid, syscall.SIGCONT)
	<-s.resets[0].call.Done()
	if value, notes := evaluated(t, im, "(defun after () 1)"); value != "AFTER" || !strings.Contains(notes, "has been done since") {
		t.Errorf("after the late reset: %s, %s", value, notes)
	}
	killed(t, im, pid)
	value, notes := evaluated(t, im, "(list (fboundp 'kept) (after))")
	if value != "(NIL 1)" || !strings.Contains(notes, "Restored: 1 definition.") || strings.Contains(notes, "LOOSE") {
		t.Errorf("after the image died: %s, %s", value, notes)
	}
}

// An image that ends while it resets leaves the definitions to be brought back.
func TestResetInADyingImage(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, `(progn
  (defun kept () 42)
  (sb-int:encapsulate 'swank-mcp::reset-session 'dies
                      (lambda (&rest arguments)
                        (declare (ignore arguments))
                        (sb-alien:alien-funcall (sb-alien:extern-alien "kill" (function sb-alien:int sb-alien:int sb-alien:int))
                                                (sb-unix:unix-getpid) 9))))`)
	_, err := im.Session("default").ResetSession(t.Context(), callLimit)
	var u *UnansweredError
	if !errors.As(err, &u) || u.Kind != KindImageDied {
		t.Fatalf("ResetSession = %v", err)
	}
	if value, notes := evaluated(t, im, "(kept)"); value != "42" || !strings.Contains(notes, "call it again") {
		t.Errorf("in the next image: %s, %s", value, notes)
	}
}
