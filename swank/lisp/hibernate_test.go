package lisp

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/kept"
)

// An image that is put away is gone with its copies; the next call has what was defined, and
// is told. One that is at work is left alone.
func TestHibernate(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if err := im.Hibernate(t.Context()); err != nil || im.Runs() {
		t.Fatalf("without an image: %v, runs: %v", err, im.Runs())
	}
	mustEval(t, im, "(defun twice (x) (* 2 x)) (defvar *n* 1) (setf *n* 2)")
	im.mu.Lock()
	first := im.cur
	im.mu.Unlock()

	s := im.Session("default")
	res, err := s.Evaluate(t.Context(), Request{Code: "(sleep 60)", Timeout: time.Minute, Debug: 1, Background: true})
	if err != nil || res.Failure != nil {
		t.Fatal(res, err)
	}
	var obstacle *ObstacleError
	if err := im.Hibernate(t.Context()); !errors.As(err, &obstacle) || !strings.Contains(err.Error(), "in the background") {
		t.Errorf("beside a job: %v", err)
	}
	s.endJobs(t.Context(), errors.New("the test is done with it"))
	_ = await.Until(func() bool { return !im.jobsRun() })
	if _, err := s.Evaluate(t.Context(), Request{Code: "(defun thrice (x) (* 3 x))", Timeout: time.Minute, JobLimit: time.Minute, Debug: 1, Background: true}); err != nil {
		t.Fatal(err)
	}
	_ = await.Until(func() bool { return !im.jobsRun() }) // the session has not heard of its end

	if err := im.Hibernate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if im.Runs() || !first.proc.HasExited() || im.timeline.any() {
		t.Errorf("it runs: %v, exited: %v, checkpoints: %v", im.Runs(), first.proc.HasExited(), im.timeline.any())
	}
	time.Sleep(100 * time.Millisecond)
	if im.Runs() {
		t.Error("it was started again, though nobody has asked")
	}
	res, err = s.Evaluate(t.Context(), Request{Code: "(list (twice 21) (thrice 21) *n*)", Timeout: time.Minute, Debug: 1})
	if err != nil || res.Failure != nil || res.Values[0].Head != "(42 63 1)" {
		t.Fatalf("after it: %+v, %v", res, err)
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, becauseIdle) || !strings.Contains(notes, "Restored: 3 definitions") {
		t.Errorf("notes: %s", notes)
	}
	mustEval(t, im, "1")
}

// savedImage returns an image that is saved to the disk when it ends, and goes on from there.
func savedImage(t *testing.T) *Image {
	t.Helper()
	cores, err := kept.CoresIn(nil, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return imageOf(t, Config{Launch: launched(t), Cores: cores, Autosave: true, Resume: kept.Last})
}

// Where checkpoints are kept on the disk, values come back, too; not what the disk has of an
// older state.
func TestHibernateToDisk(t *testing.T) {
	tier.More(t)
	t.Parallel()
	im := savedImage(t)
	mustEval(t, im, "(defvar *state* (list 1))")
	for i, want := range []string{"(1 1)", "(2 1 1)"} {
		mustEval(t, im, "(push "+want[1:2]+" *state*)")
		if err := im.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mustEval(t, im, "*state*"); got != want {
			t.Errorf("round %d: the state is %s, want %s", i, got, want)
		}
	}
	// A thread of the program's forbids a checkpoint: what was defined comes back alone.
	mustEval(t, im, `(defvar *thread* (sb-thread:make-thread (lambda () (sleep 100)))) (push 3 *state*)`)
	if err := im.Hibernate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := mustEval(t, im, "*state*"); got != "(1)" {
		t.Errorf("without a checkpoint the state is %s", got)
	}
}

// An image that could not be saved in the time that there was stays. After an undo the next one
// goes on from there, though the disk has what was undone, and that state from before, too.
func TestHibernateAfterUndo(t *testing.T) {
	tier.Nightly(t)
	t.Parallel()
	im := savedImage(t)
	save := func() {
		t.Helper()
		if err := im.autosave(t.Context(), false); err != nil {
			t.Fatal(err)
		}
	}
	undo := func() {
		t.Helper()
		if _, err := im.Session("default").Undo(t.Context(), 1, "", time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	hibernate := func(want string) {
		t.Helper()
		if err := im.Hibernate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := mustEval(t, im, "*state*"); got != want {
			t.Errorf("the state is %s, want %s", got, want)
		}
	}
	mustEval(t, im, "(defvar *state* (list 1))")
	ended, end := context.WithCancel(t.Context())
	end()
	var obstacle *ObstacleError
	if err := im.Hibernate(ended); !errors.As(err, &obstacle) || !im.Runs() {
		t.Fatalf("without time: %v; it runs: %v", err, im.Runs())
	}
	mustEval(t, im, "(push 2 *state*)")
	save()
	undo()
	hibernate("(1)")
	mustEval(t, im, "(push 3 *state*)")
	save()
	mustEval(t, im, "(push 4 *state*)")
	save()
	undo()
	hibernate("(3 1)")
}
