package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/stall"
)

// A look-up that waits for another one to start their thread waits no longer than
// its caller does.
func TestLookingBehindASlowStart(t *testing.T) {
	t.Parallel()
	// a checkpoint that is being taken as the image is stopped would have the look-up wait before that
	im := imageOf(t, Config{Launch: launched(t), NoCheckpoints: true})
	mustEval(t, im, "(defun f () 1)")
	pid := im.cur.proc.PID()
	stall.Stop(t, pid)
	first := make(chan error, 1)
	go func() {
		_, err := im.Session("default").DescribeSymbol(t.Context(), "f", "")
		first <- err
	}()
	await.True(t, "it starts the thread", func() bool { return len(im.cur.query.starting) == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := im.Session("default").DescribeSymbol(ctx, "f", "")
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second look-up: %v", err)
	}
	signal(t, pid, syscall.SIGCONT)
	if err := <-first; err != nil {
		t.Errorf("the first look-up: %v", err)
	}
	const looking = `(count "swank-mcp looking" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)`
	if got := mustEval(t, im, looking); got != "1" {
		t.Errorf("%s threads look things up", got)
	}
}

// A look-up that is not answered, because it waits for a lock, says whose that is.
func TestLookUpThatWaitsForALock(t *testing.T) {
	im := testImage(t)
	g, locked := await.NewGate(t), await.NewGate(t)
	mustEval(t, im, fmt.Sprintf(`(defvar *holder* (sb-thread:make-thread (lambda () %s
	  (sb-ext:with-locked-hash-table ((swank-mcp::session-definitions (gethash "default" swank-mcp::*sessions*))) %s (sleep 1000))) :name "holder")) 1`, g.Wait(), locked.Sign()))
	g.Open() // the evaluation itself needs the lock
	locked.Reached()
	defer func(d time.Duration) { answerLimit = d }(answerLimit)
	answerLimit = time.Second
	_, err := im.Session("default").Definitions(t.Context(), "")
	var late *UnansweredError
	if !errors.As(err, &late) || late.Kind != KindTimeout || !strings.HasPrefix(late.Why, "The image has not answered yet. It waited for the lock ") ||
		!strings.Contains(late.Why, ` "holder" holds it. interrupt-thread {"thread": `) {
		t.Errorf("list-definitions: %v", err)
	}
}
