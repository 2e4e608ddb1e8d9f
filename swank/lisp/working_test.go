package lisp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// What waits for a checkpoint, an undo or a trial of another session can be cancelled, and
// has an end; and so can, and has, what waits for the jobs of other sessions. No Lisp runs.
func TestWaitingForWorkApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		im := imageOf(t, Config{NoCheckpoints: true})
		end, over := make(chan struct{}), make(chan error, 1)
		work := func() error { <-end; return nil }
		go func() { over <- im.Session("a").exclusively(t.Context(), "apart", time.Hour, work) }()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := im.Session("b").Evaluate(ctx, Request{Code: "1", Timeout: time.Hour, Debug: 1})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("a call that is cancelled ends with %v after %v", err, took)
		}
		for limit, want := range map[time.Duration]time.Duration{time.Second: apartLimit, 2 * apartLimit: 2 * apartLimit} {
			var busy *BusyError
			began := time.Now()
			_, err := im.Session("b").Evaluate(t.Context(), Request{Code: "1", Timeout: limit, Debug: 1})
			if took := time.Since(began); !errors.As(err, &busy) || took < want || took > want+time.Second {
				t.Errorf("a call with a limit of %v ends with %v after %v", limit, err, took)
			}
		}
		close(end)
		if err := <-over; err != nil {
			t.Error(err)
		}

		end = make(chan struct{})
		go func() { over <- im.Session("a").alone(t.Context(), "together", time.Hour, work) }()
		synctest.Wait()
		began = time.Now()
		var obstacle *ObstacleError
		err = im.Session("b").exclusively(t.Context(), "apart", time.Minute, func() error { return errors.New("not apart") })
		if took := time.Since(began); !errors.As(err, &obstacle) || !obstacle.Passing || took != time.Minute {
			t.Errorf("what waits for jobs ends with %v after %v", err, took)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := im.Session("b").exclusively(ctx, "apart", time.Minute, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("what is cancelled while it waits for jobs ends with %v", err)
		}
		close(end)
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
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
