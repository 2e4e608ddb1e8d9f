package lisp

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/internal/stall"
)

// An image that has not answered is said to be so, with what it said before; its answer is not
// lost when it comes.
func TestNotAnsweredYet(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	mustEval(t, im, "(+ 1 2)")
	before := im.Heap(t.Context())
	if before.Used == 0 || before.Silent != "" {
		t.Fatalf("before: %+v", before)
	}
	pid := im.Overview().PID
	stall.Stop(t, pid)
	defer syscall.Kill(pid, syscall.SIGCONT)
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range 2 { // the second one waits for the same answer
		if heap := im.Heap(gone); heap.Used != before.Used || heap.Silent != "it has not answered yet" {
			t.Errorf("while it is stopped: %+v", heap)
		}
	}
	soon, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	st, err := im.Session("").Status(soon)
	if err != nil || !strings.Contains(strings.Join(st.Notes, "\n"), "The image has not answered yet: ") {
		t.Errorf("status while it is stopped: %v, %v", st, err)
	}
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if heap := im.Heap(t.Context()); heap.Used == 0 || heap.Silent != "" {
		t.Errorf("when it goes on: %+v", heap)
	}
	if st, err := im.Session("").Status(t.Context()); err != nil || strings.Contains(strings.Join(st.Notes, "\n"), "answer") {
		t.Errorf("status when it goes on: %v, %v", st, err)
	}
}

// What looks at a session waits for work that is no client's, however long, and for no job.
func TestWaitIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q turns
		if err := take(t.Context(), &q, &turn{limit: time.Minute}); err != nil {
			t.Fatal(err)
		}
		idle := func(ctx context.Context) chan error {
			ended, look := make(chan error, 1), &turn{free: true}
			q.join(look)
			go func() { ended <- q.waitIdle(ctx, look) }()
			synctest.Wait()
			return ended
		}
		first := idle(t.Context())
		time.Sleep(time.Hour)
		synctest.Wait()
		select {
		case err := <-first:
			t.Fatalf("it has not waited: %v", err)
		default:
		}
		q.done()
		if err := <-first; err != nil {
			t.Fatal(err)
		}

		job := &turn{limit: time.Minute}
		q.join(job) // it is not known yet what it is
		late := idle(t.Context())
		q.done()
		synctest.Wait()
		q.describe(job, "(sleep 5)", time.Minute)
		if err := <-late; err == nil || len(q.waiting) != 0 {
			t.Errorf("behind a job: %v, %d wait", err, len(q.waiting))
		}
		if err := <-idle(t.Context()); err == nil || len(q.waiting) != 0 {
			t.Errorf("while a job runs: %v, %d wait", err, len(q.waiting))
		}
		q.describe(job, "", 0)
		ctx, cancel := context.WithCancel(t.Context())
		left := idle(ctx)
		cancel()
		if err := <-left; err == nil || len(q.waiting) != 0 {
			t.Errorf("who leaves: %v, %d wait", err, len(q.waiting))
		}
		q.done()
		if err := <-idle(t.Context()); err != nil {
			t.Errorf("when nothing runs: %v", err)
		}
	})
}
