package lisp

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// background evaluates code on a goroutine; the function returned waits for it.
func background(t *testing.T, ctx context.Context, im *Image, code string, timeout time.Duration) func() (*Result, error) {
	t.Helper()
	type outcome struct {
		res *Result
		err error
	}
	done := make(chan outcome, 1)
	ctx = im.Session("default").Queue("evaluate-lisp").Within(ctx)
	go func() {
		res, err := im.Session("default").Evaluate(ctx, Request{Code: code, Timeout: timeout, Debug: 1})
		done <- outcome{res, err}
	}()
	return func() (*Result, error) { o := <-done; return o.res, o.err }
}

// An evaluation that leaves while it waits is not evaluated, and those behind it are.
func TestWaitingAndLeaving(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(defvar *trace* '())")
	g := await.NewGate(t)
	first := background(t, t.Context(), im, fmt.Sprintf("(progn %s (push 1 *trace*))", g.Wait()), callLimit)
	late := background(t, t.Context(), im, "(push :late *trace*)", 500*time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	gone := background(t, ctx, im, "(push :gone *trace*)", callLimit)
	last := background(t, t.Context(), im, "(push 2 *trace*)", callLimit)
	cancel()
	var busy *BusyError
	if _, err := late(); !errors.As(err, &busy) {
		t.Errorf("the one whose time was up: %v, want a *BusyError", err)
	}
	if _, err := gone(); !errors.Is(err, context.Canceled) {
		t.Errorf("the one that was cancelled: %v", err)
	}
	g.Open()
	for _, wait := range []func() (*Result, error){first, last} {
		if res, err := wait(); err != nil || res.Failure != nil {
			t.Errorf("one that stayed: %+v, %v", res, err)
		}
	}
	if got := mustEval(t, im, "*trace*"); got != "(2 1)" {
		t.Errorf("*trace* = %s, want (2 1)", got)
	}
}

// Those that wait while an image is lost are evaluated in the next one.
func TestWaitingForAnImageThatIsLost(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, c := range []struct {
		name, code string
		limit      time.Duration
		failure    FailureKind
	}{
		{"replaced", "(sb-sys:without-interrupts (loop))", time.Second, KindTimeout},
		{"dies", "(progn (sb-posix:kill (sb-posix:getpid) 9) (sleep 100))", callLimit, KindImageDied},
	} {
		t.Run(c.name, func(t *testing.T) {
			im := testImage(t)
			mustEval(t, im, "(defun f () :kept)")
			s := im.Session("default")
			first := s.Queue("evaluate-lisp").Within(t.Context())
			second := background(t, t.Context(), im, "(list 2 (f))", callLimit)
			third := background(t, t.Context(), im, "(list 3 (f))", callLimit)
			if res, err := s.Evaluate(first, Request{Code: c.code, Timeout: c.limit, Debug: 1}); err != nil || res.Failure == nil || res.Failure.Kind != c.failure {
				t.Fatalf("the first: %+v, %v", res, err)
			}
			for i, wait := range []func() (*Result, error){second, third} {
				res, err := wait()
				if err != nil || res.Failure != nil {
					t.Fatalf("number %d: %+v, %v", i+2, res, err)
				}
				if got, want := res.Values[0].Head, fmt.Sprintf("(%d :KEPT)", i+2); got != want {
					t.Errorf("number %d = %s, want %s", i+2, got, want)
				}
			}
		})
	}
}

// The thread ends under an evaluation; those that wait go to the next one.
func TestWaitingForAThreadThatEnds(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(defvar *trace* '())")
	killer, never := await.NewGate(t), await.NewGate(t)
	mustEval(t, im, fmt.Sprintf(`(defvar *killer* (let ((victim sb-thread:*current-thread*))
  (sb-thread:make-thread (lambda () %s (sb-thread:terminate-thread victim)))))`, killer.Wait()))
	first := background(t, t.Context(), im, fmt.Sprintf("(progn (push 1 *trace*) %s (push :not *trace*))", never.Wait()), callLimit)
	second := background(t, t.Context(), im, "(push 2 *trace*)", callLimit)
	third := background(t, t.Context(), im, "(push 3 *trace*)", callLimit)
	never.Reached()
	killer.Open()
	first()
	for i, wait := range []func() (*Result, error){second, third} {
		if res, err := wait(); err != nil || res.Failure != nil {
			t.Errorf("number %d: %+v, %v", i+2, res, err)
		}
	}
	if got := mustEval(t, im, "*trace*"); got != "(3 2 1)" {
		t.Errorf("*trace* = %s, want (3 2 1)", got)
	}
}
