package lisp

import (
	"flag"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

var stallRounds = flag.Int("stalls", 0, "how often the session is brought back for each way in which its image is stalled; 0: once for one of them")

// stalled has the process run for so long in each period, and stand still for the rest of it,
// until the returned function is called.
func stalled(t *testing.T, pid int, run, period time.Duration) (end func()) {
	t.Helper()
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		defer syscall.Kill(pid, syscall.SIGCONT)
		for {
			for _, turn := range []struct {
				signal syscall.Signal
				lasts  time.Duration
			}{{syscall.SIGSTOP, period - run}, {syscall.SIGCONT, run}} {
				if syscall.Kill(pid, turn.signal) != nil {
					return
				}
				select {
				case <-time.After(turn.lasts):
				case <-done:
					return
				}
			}
		}
	}()
	return func() { close(done); <-over }
}

// definitions returns that many definitions of all kinds, and code for each that is true if it
// is there.
func definitions(n int) (forms, there []string) {
	for i := range n {
		form, is := "", ""
		switch i % 8 {
		case 0:
			form, is = "(defvar *w%d* %[1]d)", "(eql *w%d* %[1]d)"
		case 1:
			form, is = "(defun f%d (x) (list x %[1]d))", "(equal (f%d 1) '(1 %[1]d))"
		case 2:
			form, is = "(defmacro m%d (x) `(list ,x %[1]d))", "(macro-function 'm%d)"
		case 3:
			form, is = "(defclass c%d () ((a :initform %[1]d :accessor a-of)))", "(find-class 'c%d nil)"
		case 4:
			form, is = "(defstruct s%d (a %[1]d) b)", "(eql (s%d-a (make-s%[1]d)) %[1]d)"
		case 5:
			form, is = "(defpackage #:p%d (:use #:cl) (:export #:it))", "(find-package '#:p%d)"
		case 6:
			form, is = "(defparameter *v%d* (loop for i below %[1]d collect i))", "(eql (length *v%d*) %[1]d)"
		case 7:
			form, is = "(defmethod kind ((x (eql %d))) %[1]d)", "(eql (kind %d) %[1]d)"
		}
		forms, there = append(forms, fmt.Sprintf(form, i)), append(there, fmt.Sprintf(is, i))
	}
	return forms, there
}

// However little of the processor the image gets, and however long it is stopped, all that a
// session has defined comes back, and nothing is said to be lost.
func TestRestoresWhileStalled(t *testing.T) {
	t.Parallel()
	patterns := []struct{ run, period time.Duration }{
		{3 * time.Millisecond, 100 * time.Millisecond},
		{10 * time.Millisecond, 200 * time.Millisecond},
		{300 * time.Millisecond, 3800 * time.Millisecond},
	}
	if *stallRounds == 0 {
		patterns = patterns[1:2]
	}
	const count = 70
	forms, there := definitions(count)
	for _, p := range patterns {
		t.Run(fmt.Sprintf("%v in %v", p.run, p.period), func(t *testing.T) {
			im := testImage(t)
			for _, form := range forms {
				mustEval(t, im, form)
			}
			for round := range max(1, *stallRounds) {
				killed(t, im, im.cur.proc.PID())
				inst, err := im.acquire(t.Context(), time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				end := stalled(t, inst.proc.PID(), p.run, p.period)
				res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "1", Timeout: time.Hour, Debug: 1})
				end()
				if err != nil || res.Failure != nil {
					t.Fatalf("%+v, %v", res, err)
				}
				took, notes := time.Since(began), strings.Join(res.Notes, "\n")
				value := mustEval(t, im, fmt.Sprintf("(count nil (list %s) :test-not #'eq)", strings.Join(there, " ")))
				t.Logf("%d: %s of %d are back after %.1f s", round+1, value, count, took.Seconds())
				if value != fmt.Sprint(count) || strings.Contains(notes, "Not restored") || strings.Contains(notes, "stopped") || inst.over() {
					t.Errorf("%s of %d are back, over: %v\n%s", value, count, inst.over(), notes)
				}
			}
		})
	}
}
