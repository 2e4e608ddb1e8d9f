package lisp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/swank/lisp/launch"
)

// What the image changes makes its copies larger, also while no checkpoint can be taken: the
// oldest go then, too.
func TestThinnedMeanwhile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the system does not tell how much memory copies take")
	}
	defer func(d time.Duration) { thinTime = d }(thinTime)
	thinTime = 100 * time.Millisecond
	im := imageOf(t, Config{CheckpointMB: 16, Launch: launched(t)})
	mustEval(t, im, "(defvar *live* (let ((v (make-array 5000000 :element-type '(unsigned-byte 64)))) (fill v 1) v))")
	mustEval(t, im, "(gc :full t)")
	for range 3 {
		mustEval(t, im, "(defparameter *more* (list 1))") // "1" would be a look-up, after which there is nothing to keep
		checkpointNow(t, im)
	}
	kept := func() int {
		im.timeline.mu.Lock()
		defer im.timeline.mu.Unlock()
		return len(im.timeline.checkpoints)
	}
	if n := kept(); n < 3 {
		t.Fatalf("%d checkpoints are kept while the image changes nothing", n)
	}
	mustEval(t, im, "(sb-thread:make-thread (lambda () (fill *live* 2) (sleep 1000)))")
	if await.Until(func() bool { return kept() == 1 }) != nil {
		t.Errorf("%d checkpoints are kept", kept())
	}
}

// frozenDropped is a copy that is dropped when an image is to start from it.
type frozenDropped struct{ frozen }

func (f *frozenDropped) Start(context.Context) (*launch.Process, error) {
	f.Drop()
	if err := await.Until(func() bool { return !f.Alive() }); err != nil {
		return nil, err
	}
	return nil, errors.New("the copy has ended")
}

// A trial whose checkpoint goes just then takes another one.
func TestTrialWithoutItsCheckpoint(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(defvar *n* 1)")
	c := checkpointNow(t, im)
	im.timeline.mu.Lock()
	c.copy = &frozenDropped{c.copy}
	im.timeline.mu.Unlock()
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(+ *n* 1)", Trial: true, Timeout: 10 * time.Second, Debug: 1})
	if err != nil || res.Failure != nil {
		t.Errorf("the trial: %v, %+v", err, res)
	}
}

// A look-up that is on its way during an undo is answered by the image that takes the
// place.
func TestLookUpDuringUndo(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	g := await.NewGate(t)
	mustEval(t, im, fmt.Sprintf(`(progn (defclass slow () ()) (defmethod print-object ((s slow) out) %s (sleep 1) (write-string "here I am" out)))`, g.Sign()))
	mustEval(t, im, `(defvar *slow* (make-instance 'slow))`)
	checkpointNow(t, im)
	mustEval(t, im, "(defvar *other* 1)")
	checkpointNow(t, im)
	found := make(chan error, 1)
	s := im.Session("default")
	go func() {
		_, err := s.DescribeSymbol(t.Context(), "*slow*", "")
		found <- err
	}()
	g.Reached()
	if _, err := s.Undo(t.Context(), 1, "", time.Minute); err != nil {
		t.Fatalf("undo: %v", err)
	}
	if err := await.From(t, "the end of the look-up", found); err != nil {
		t.Errorf("the look-up: %v", err)
	}
}

// An image that is killed from outside as soon as it goes on is not started again and
// again, but by the next call.
func TestKilledAgainAndAgain(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	deadly := filepath.Join(t.TempDir(), "deadly")
	mustEval(t, im, fmt.Sprintf("(progn (defvar *n* 1) (push (lambda () (when (probe-file %q) (sb-posix:kill (sb-posix:getpid) 9))) swank-mcp:*after-restore*))", deadly))
	checkpointNow(t, im)
	if err := os.WriteFile(deadly, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	im.mu.Lock()
	inst, before := im.cur, im.starts
	im.mu.Unlock()
	inst.kill("killed by the test")
	await.True(t, "one image is started, and no other when that has ended", func() bool {
		im.mu.Lock()
		defer im.mu.Unlock()
		return im.starts == before+1 && im.cur == nil && im.start == nil
	})
	if err := os.Remove(deadly); err != nil {
		t.Fatal(err)
	}
	if got := mustEval(t, im, "*n*"); got != "1" {
		t.Errorf("*n* is %s afterwards", got)
	}
}

// Checkpoints have a tenth of the memory that there is, at most a gigabyte, unless somebody says more.
func TestCheckpointMemory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  Config
		want int64
	}{
		{Config{}, 1 << 30},
		{Config{Memory: 64 << 30}, 1 << 30},
		{Config{Memory: 2 << 30}, 2 << 30 / 10},
		{Config{Memory: 2 << 30, CheckpointMB: 512}, 512 << 20},
	} {
		if got := c.cfg.checkpointMemory(); got != c.want {
			t.Errorf("with %d bytes of memory and --checkpoint-memory %d: %d, want %d", c.cfg.Memory, c.cfg.CheckpointMB, got, c.want)
		}
	}
}
