package lisp

import (
	"context"
	"strings"
	"testing"
	"time"
)

// evaluating evaluates code in a goroutine and returns its result when it is there.
func evaluating(t *testing.T, im *Image, session, code string) <-chan *Result {
	t.Helper()
	c := make(chan *Result, 1)
	ctx := context.WithoutCancel(t.Context())
	go func() {
		res, err := im.Session(session).Evaluate(ctx, Request{Code: code, Timeout: 20 * time.Second, Debug: 1})
		if err != nil {
			t.Errorf("Evaluate(%q): %v", code, err)
		}
		c <- res
	}()
	return c
}

// Stop ends what all sessions evaluate; code that cannot be stopped costs a launched image.
func TestStop(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if ended, err := im.Stop(t.Context()); len(ended) != 0 || err != nil {
		t.Errorf("without an image: %v, %v", ended, err)
	}
	mustEval(t, im, "1")
	one, two := evaluating(t, im, "one", "(loop)"), evaluating(t, im, "two", "(unwind-protect (sleep 100) (sleep 100))")
	time.Sleep(500 * time.Millisecond)
	ended, err := im.Stop(t.Context())
	if len(ended) != 2 || err != nil {
		t.Errorf("stopped %v, %v", ended, err)
	}
	for _, c := range []<-chan *Result{one, two} {
		if f := (<-c).Failure; f == nil || f.Kind != KindStopped {
			t.Errorf("the failure is %+v", f)
		}
	}
	stubborn := evaluating(t, im, "one", "(sb-sys:without-interrupts (loop))")
	time.Sleep(500 * time.Millisecond)
	if ended, err := im.Stop(t.Context()); len(ended) != 1 || err != nil || ended[0].Session != "one" || ended[0].Code != "(sb-sys:without-interrupts (loop))" {
		t.Errorf("stopped %v, %v", ended, err)
	}
	if f := (<-stubborn).Failure; f == nil || f.Kind != KindStopped || !strings.Contains(f.Message, "The Lisp image was ended") {
		t.Errorf("the failure is %+v", f)
	}
	if got := mustEval(t, im, "(+ 1 2)"); got != "3" {
		t.Errorf("afterwards (+ 1 2) is %s", got)
	}
}
