package lisp

import (
	"context"
	"errors"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What waits for a checkpoint, an undo or a trial of another session can be cancelled, and
// has an end.
func TestWaitingForWorkApart(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "1")
	if await.Until(im.working.tryLock) != nil {
		t.Fatal("there is work without end")
	}
	defer im.working.unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := im.Session("b").Evaluate(ctx, Request{Code: "1", Timeout: time.Hour, Debug: 1})
	if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 3*time.Second {
		t.Errorf("a call that is cancelled ends with %v after %v", err, took)
	}
	var busy *BusyError
	if _, err := im.Session("b").Evaluate(t.Context(), Request{Code: "1", Timeout: time.Second, Debug: 1}); !errors.As(err, &busy) {
		t.Errorf("a call that has waited long enough ends with %v", err)
	}
}

// While a session is brought back, because it wants to undo something, the others work.
func TestBroughtBackBeforeUndo(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := testImage(t)
	in(t, im, "b", "(defvar *n* 1)")
	checkpointNow(t, im)
	im.timeline.rest(time.Hour) // none is taken by itself
	g := await.NewGate(t)
	g.Open()
	in(t, im, "a", slowly(g))
	g.Shut()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	inst.kill("killed by the test")
	<-inst.proc.Exited()
	undone := make(chan error, 1)
	go func() {
		_, err := im.Session("a").Undo(t.Context(), 1, "", time.Minute)
		undone <- err
	}()
	g.Reached()
	got := in(t, im, "b", "*n*")
	select {
	case err := <-undone:
		t.Fatalf("the undo has not waited: %v", err)
	default:
	}
	if got != "1" {
		t.Errorf("the other session gets %s", got)
	}
	g.Open()
	if err := <-undone; err != nil {
		t.Errorf("undo: %v", err)
	}
}
