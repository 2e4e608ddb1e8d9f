package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// However a bridge ends, nothing of its jobs, and of the threads of the program that wait
// in the debugger, stays in a person's image.
func TestJobsLeaveNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := harness.NewPerson(t, "")
	p.Says("(require :sb-posix)")
	was := p.Says(harness.Vitals)
	for i := range 6 {
		s := harness.Attached(t, p)
		for _, code := range []string{"(loop)", "(loop (sleep 0.01))", "(unwind-protect (sleep 1000) (print :over))"} {
			harness.Good(t, s, "evaluate-lisp", harness.Object{"code": code, "background": true})
		}
		harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(loop (sleep 0.01))", "timeout": 1, "on-timeout": "background"})
		harness.Good(t, s, "evaluate-lisp", harness.Object{"code": `(sb-thread:make-thread (lambda () (error "Wait")) :name "waiting") (sleep 0.3)`, "on-error": "debug"})
		harness.Call(t, s, "evaluate-lisp", harness.Object{"code": `(error "Suspended")`, "on-error": "debug", "background": true})
		if i%2 == 0 {
			s.Close(await.Ceiling)
		} else {
			s.Kill()
		}
		p.Returns(was)
	}
}

// An evaluation whose client gives up goes on as a job if the call says so, and the next
// reply tells. Without, it is stopped.
func TestCancelledIntoBackground(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Want(t, s, "(defvar *go-on* nil)", "=> *GO-ON*")
	begun := filepath.Join(t.TempDir(), "begun")
	pending := harness.SendTool(t, s, "evaluate-lisp", harness.Object{"on-timeout": "background", "code": fmt.Sprintf(
		"(setf *go-on* :begun) (close (open %q :direction :output)) (loop until (eq *go-on* :yes) do (sleep 0.01)) :went-on", begun)})
	if await.Until(func() bool { _, err := os.Stat(begun); return err == nil }) != nil {
		t.Fatal("it does not begin")
	}
	harness.Check(t, pending.Cancel("tired"))
	harness.Says(t, harness.Want(t, s, "*go-on*", "=> :BEGUN…"), "; The evaluation whose caller has gone ((setf *go-on* :begun)", "goes on as job-1.")
	harness.Want(t, s, "(setf *go-on* :yes)", "…")
	if await.Until(func() bool {
		return strings.Contains(harness.Good(t, s, "read-output", harness.Object{"handle": "job-1"}), "=> :WENT-ON")
	}) != nil {
		t.Error("the job has no result:\n" + harness.Good(t, s, "read-output", harness.Object{"handle": "job-1"}))
	}
}

// A job that cannot be stopped costs a launched image, as an evaluation does; the session is
// brought back with what jobs have defined, and the reply tells of the others.
func TestJobThatCannotBeStopped(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(defun of-a-job () :defined)", "background": true})
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(loop (sleep 0.01))", "background": true})
	harness.Good(t, s, "evaluate-lisp", harness.Object{"code": "(sb-sys:without-interrupts (print :within) (loop (sleep 0.01)))", "background": true})
	_ = await.Until(func() bool {
		return strings.Contains(harness.Good(t, s, "read-output", harness.Object{"handle": "job-1"}), "=> ")
	})
	_ = await.Until(func() bool {
		return strings.Contains(harness.Good(t, s, "read-output", harness.Object{"handle": "job-3"}), ":WITHIN")
	})
	pid := harness.ImagePID(t, s)
	harness.Says(t, harness.Bad(t, s, "abort-evaluation", harness.Object{"evaluation": 3}), "IMAGE-REPLACED", "without-interrupts")
	harness.Says(t, harness.Want(t, s, "(of-a-job)", "=> :DEFINED…"), "job-2 ((loop (sleep 0.01))) was lost with the Lisp image")
	if harness.ImagePID(t, s) == pid {
		t.Error("the image is the same")
	}
}

// Eight jobs at once and the session's own evaluations do not disturb each other: each has
// its output, its value, and its definition.
func TestJobsBesideEachOther(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	for i := range 8 {
		harness.Good(t, s, "evaluate-lisp", harness.Object{"background": true, "code": fmt.Sprintf(
			"(dotimes (i 50) (format t \"%[1]d \") (sleep 0.002)) (defun job-%[1]d () %[1]d) (* 100 %[1]d)", i)})
	}
	for i := range 30 {
		harness.Want(t, s, fmt.Sprintf("(defun own-%d () (print :own) %[1]d) (own-%[1]d)", i), fmt.Sprintf("[stdout]\n:OWN\n\n=> %d…", i))
	}
	for i := range 8 {
		handle := harness.Object{"handle": fmt.Sprintf("job-%d", i+1)}
		text := ""
		if await.Until(func() bool {
			text = harness.Good(t, s, "read-output", handle)
			return strings.Contains(text, fmt.Sprintf("=> %d", 100*i))
		}) != nil || strings.Count(text, fmt.Sprintf("%d ", i)) < 50 || strings.Contains(text, ":OWN") {
			t.Errorf("job-%d has:\n%s", i+1, text)
		}
	}
	listed := harness.Good(t, s, "list-definitions", harness.Object{})
	for i := range 8 {
		harness.Says(t, listed, fmt.Sprintf("JOB-%d ", i))
	}
	harness.Kill9(t, s)
	first := ""
	for i := range 8 {
		got := harness.Want(t, s, fmt.Sprintf("(list (job-%d) (own-%[1]d))", i), fmt.Sprintf("…=> (%d %[1]d)…", i))
		if i == 0 {
			first = got
		}
	}
	if t.Failed() {
		t.Logf("the first reply after the death was\n%s\nand now\n%s", first, harness.Status(t, s))
	}
}
