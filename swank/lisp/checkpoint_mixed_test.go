package lisp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/tier"
)

// Two sessions evaluate, also in the background and into the debugger, look up, try, go
// back and forward, take checkpoints, leave calls, and the image is killed, all at once.
// Nothing hangs, and afterwards both sessions go on.
func TestCheckpointsMeanwhile(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	in(t, im, "a", "(defvar *shared* 0)")
	in(t, im, "b", "(defun twice (x) (* 2 x))")
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Second)
	defer stop()
	seed := tier.Seed(t)
	var all sync.WaitGroup
	for worker := range 4 {
		s := im.Session([]string{"a", "b"}[worker%2])
		r := rand.New(rand.NewPCG(seed, uint64(worker)))
		all.Go(func() {
			for ctx.Err() == nil {
				what, err := meanwhile(ctx, s, r)
				var busy *BusyError
				var none *NoCheckpointError
				var obstacle *ObstacleError
				var gone *DebuggerError
				switch {
				case err == nil, ctx.Err() != nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
					errors.As(err, &busy), errors.As(err, &none), errors.As(err, &obstacle), errors.As(err, &gone), errors.Is(err, ErrCheckpointExists):
				default:
					t.Logf("%s: %v", what, err) // the image was killed under it
				}
			}
		})
	}
	all.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(700 * time.Millisecond)
			im.mu.Lock()
			if inst := im.cur; inst != nil {
				_ = syscall.Kill(inst.proc.PID(), syscall.SIGKILL)
			}
			im.mu.Unlock()
		}
	})
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(40 * time.Second):
		t.Fatal("a call hangs")
	}
	im.mu.Lock()
	if inst := im.cur; inst != nil {
		inst.kill("with it go the suspended evaluations")
	}
	im.mu.Unlock()
	for _, session := range []string{"a", "b"} {
		im.Session(session).endJobs(t.Context(), ErrClosed)
		got := in(t, im, session, "(progn (setf *shared* 5) 11)")
		if got == "IMAGE-DIED" { // it had begun
			got = in(t, im, session, "(progn (setf *shared* 5) 11)")
		}
		if got != "11" {
			t.Errorf("afterwards %s answers %s", session, got)
		}
	}
	checkpointNow(t, im)
}

// meanwhile does something at random, with a context that may end in the midst of it.
func meanwhile(ctx context.Context, s *Session, r *rand.Rand) (what string, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(5+r.IntN(400))*time.Millisecond)
	defer cancel()
	req := Request{Code: fmt.Sprintf("(setf *shared* %d)", r.IntN(100)), Timeout: 2 * time.Second, JobLimit: 2 * time.Second, Debug: 1}
	switch what = []string{"evaluate", "evaluate", "sleep", "define", "trial", "background", "suspend", "undo", "redo", "checkpoint", "status", "look up", "rest"}[r.IntN(13)]; what {
	case "sleep":
		req.Code = "(sleep 0.05)"
	case "define":
		req.Code = fmt.Sprintf("(defun f%d () %d)", r.IntN(5), r.IntN(5))
	case "trial":
		req.Trial = true
	case "background":
		req.Code, req.Background = "(sleep 0.1)", true
	case "suspend":
		req.Code, req.Suspend = `(error "Waiting")`, true
	case "undo":
		_, err = s.Undo(ctx, 1+r.IntN(3), "", time.Second)
		return what, err
	case "redo":
		_, err = s.Undo(ctx, -1, "", time.Second)
		return what, err
	case "checkpoint":
		name := fmt.Sprintf("n%d", r.IntN(3))
		s.DropCheckpoint(name)
		_, err = s.TakeCheckpoint(ctx, name, time.Second)
		return what, err
	case "status":
		_, err = s.Status(ctx)
		return what, err
	case "look up":
		_, err = s.DescribeSymbol(ctx, "car", "")
		return what, err
	case "rest":
		time.Sleep(300 * time.Millisecond)
		return what, nil
	}
	res, err := s.Evaluate(ctx, req)
	if err == nil && res.Failure != nil && strings.Contains(res.Failure.Type, "ANSWER-BROKEN") {
		err = fmt.Errorf("%s: %s", res.Failure.Type, res.Failure.Message)
	}
	return what, err
}
