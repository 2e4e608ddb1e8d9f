package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// However a bridge ends, nothing of its jobs, and of the threads of the program that wait
// in the debugger, stays in a person's image.
func TestJobsLeaveNothing(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p := newPerson(t, "")
	p.says("(require :sb-posix)")
	was := p.says(vitals)
	for i := range 6 {
		s := attached(t, p)
		for _, code := range []string{"(loop)", "(loop (sleep 0.01))", "(unwind-protect (sleep 1000) (print :over))"} {
			good(t, s, "evaluate-lisp", object{"code": code, "background": true})
		}
		good(t, s, "evaluate-lisp", object{"code": "(loop (sleep 0.01))", "timeout": 1, "on-timeout": "background"})
		good(t, s, "evaluate-lisp", object{"code": `(sb-thread:make-thread (lambda () (error "Wait")) :name "waiting") (sleep 0.3)`, "on-error": "debug"})
		call(t, s, "evaluate-lisp", object{"code": `(error "Suspended")`, "on-error": "debug", "background": true})
		if i%2 == 0 {
			s.Close(await.Ceiling)
		} else {
			s.Kill()
		}
		p.returns(was)
	}
}

// An evaluation whose client gives up goes on as a job if the call says so, and the next
// reply tells. Without, it is stopped.
func TestCancelledIntoBackground(t *testing.T) {
	t.Parallel()
	s := start(t)
	want(t, s, "(defvar *go-on* nil)", "=> *GO-ON*")
	begun := filepath.Join(t.TempDir(), "begun")
	pending := sendTool(t, s, "evaluate-lisp", object{"on-timeout": "background", "code": fmt.Sprintf(
		"(setf *go-on* :begun) (close (open %q :direction :output)) (loop until (eq *go-on* :yes) do (sleep 0.01)) :went-on", begun)})
	if await.Until(func() bool { _, err := os.Stat(begun); return err == nil }) != nil {
		t.Fatal("it does not begin")
	}
	check(t, pending.Cancel("tired"))
	says(t, want(t, s, "*go-on*", "=> :BEGUN…"), "; The evaluation whose caller has gone ((setf *go-on* :begun)", "goes on as job-1.")
	want(t, s, "(setf *go-on* :yes)", "…")
	if await.Until(func() bool {
		return strings.Contains(good(t, s, "read-output", object{"handle": "job-1"}), "=> :WENT-ON")
	}) != nil {
		t.Error("the job has no result:\n" + good(t, s, "read-output", object{"handle": "job-1"}))
	}
}

// A job that cannot be stopped costs a launched image, as an evaluation does; the session is
// brought back with what jobs have defined, and the reply tells of the others.
func TestJobThatCannotBeStopped(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := start(t)
	good(t, s, "evaluate-lisp", object{"code": "(defun of-a-job () :defined)", "background": true})
	good(t, s, "evaluate-lisp", object{"code": "(loop (sleep 0.01))", "background": true})
	good(t, s, "evaluate-lisp", object{"code": "(sb-sys:without-interrupts (print :within) (loop (sleep 0.01)))", "background": true})
	_ = await.Until(func() bool { return strings.Contains(good(t, s, "read-output", object{"handle": "job-1"}), "=> ") })
	_ = await.Until(func() bool { return strings.Contains(good(t, s, "read-output", object{"handle": "job-3"}), ":WITHIN") })
	pid := imagePID(t, s)
	says(t, bad(t, s, "abort-evaluation", object{"evaluation": 3}), "IMAGE-REPLACED", "without-interrupts")
	says(t, want(t, s, "(of-a-job)", "=> :DEFINED…"), "job-2 ((loop (sleep 0.01))) was lost with the Lisp image")
	if imagePID(t, s) == pid {
		t.Error("the image is the same")
	}
}

// Eight jobs at once and the session's own evaluations do not disturb each other: each has
// its output, its value, and its definition.
func TestJobsBesideEachOther(t *testing.T) {
	t.Parallel()
	s := start(t)
	for i := range 8 {
		good(t, s, "evaluate-lisp", object{"background": true, "code": fmt.Sprintf(
			"(dotimes (i 50) (format t \"%[1]d \") (sleep 0.002)) (defun job-%[1]d () %[1]d) (* 100 %[1]d)", i)})
	}
	for i := range 30 {
		want(t, s, fmt.Sprintf("(defun own-%d () (print :own) %[1]d) (own-%[1]d)", i), fmt.Sprintf("[stdout]\n:OWN\n\n=> %d…", i))
	}
	for i := range 8 {
		handle := object{"handle": fmt.Sprintf("job-%d", i+1)}
		text := ""
		if await.Until(func() bool {
			text = good(t, s, "read-output", handle)
			return strings.Contains(text, fmt.Sprintf("=> %d", 100*i))
		}) != nil || strings.Count(text, fmt.Sprintf("%d ", i)) < 50 || strings.Contains(text, ":OWN") {
			t.Errorf("job-%d has:\n%s", i+1, text)
		}
	}
	listed := good(t, s, "list-definitions", object{})
	for i := range 8 {
		says(t, listed, fmt.Sprintf("JOB-%d ", i))
	}
	kill9(t, s)
	for i := range 8 {
		want(t, s, fmt.Sprintf("(list (job-%d) (own-%[1]d))", i), fmt.Sprintf("…=> (%d %[1]d)…", i))
	}
}
