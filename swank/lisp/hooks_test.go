package lisp

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"swank-mcp/swank/lisp/launch"
)

// TestHooksAreCalledOnce: the program's functions are called once for each checkpoint, on
// a thread that counts as the session's, and a checkpoint that is not taken by reason of
// a thread starts again what they have ended.
func TestHooksAreCalledOnce(t *testing.T) {
	t.Parallel()
	if !launch.CanCopy {
		t.Skip("this system cannot copy a process")
	}
	im := testImage(t)
	mustEval(t, im, `(defvar *before* 0) (defvar *after* 0) (defvar *name* nil) (defvar *started* nil)
		(push (lambda ()
		        (incf *before*)
		        (setf *name* (sb-thread:thread-name sb-thread:*current-thread*))
		        (setf *started* (sb-thread:make-thread (lambda () 1)))
		        (sb-thread:join-thread *started*))
		      swank-mcp:*before-checkpoint*)
		(push (lambda () (incf *after*)) swank-mcp:*after-restore*)`)
	s := im.Session("default")
	const taken = 20
	for i := range taken {
		if _, err := s.TakeCheckpoint(t.Context(), fmt.Sprintf("c%d", i), 20*time.Second); err != nil {
			t.Fatalf("checkpoint %d: %v", i, err)
		}
	}
	counts := func(when string, more int) {
		t.Helper()
		// Some may have been taken by themselves.
		code := fmt.Sprintf("(list (= *before* *after*) (<= %d *before* %d) *name*)", taken+more, taken+more+3)
		if got := mustEval(t, im, code); got != `(T T "swank-mcp hooks")` {
			t.Errorf("%s: %s, of %s", when, got, mustEval(t, im, "(list *before* *after*)"))
		}
	}
	counts("after some checkpoints", 0)
	mustEval(t, im, `(defvar *thread* (sb-thread:make-thread (lambda () (sleep 60)) :name "stays"))`)
	_, err := s.TakeCheckpoint(t.Context(), "never", 20*time.Second)
	var obstacle *ObstacleError
	if !errors.As(err, &obstacle) || len(obstacle.Threads) != 1 || obstacle.Threads[0] != "stays" {
		t.Errorf("with a thread: %v", err)
	}
	counts("after one that was not taken", 1)
}
