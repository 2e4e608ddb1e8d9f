package session

import (
	"fmt"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
)

// TestHandlesDoNotLeak: looking at many large objects keeps few of them.
func TestHandlesDoNotLeak(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	harness.Good(t, s, "inspect-object", harness.Object{"code": "(defvar *kept* (list 1 2))"}) // what the tool itself needs
	heap := func() (mb int) {
		t.Helper()
		text, _ := harness.Eval(t, s, "(progn (sb-ext:gc :full t) (floor (sb-kernel:dynamic-usage) 1000000))")
		if _, err := fmt.Sscanf(text, "=> %d", &mb); err != nil {
			t.Fatal(text)
		}
		return mb
	}
	before := heap()
	for range 300 {
		harness.Good(t, s, "inspect-object", harness.Object{"code": "(make-array 1000000 :element-type '(unsigned-byte 8))"})
	}
	if after := heap(); after > before+30 {
		t.Errorf("the heap grew from %d to %d MB by looking at 300 objects of 1 MB", before, after)
	}
	harness.Want(t, s, "(list (length swank-mcp::*handles*) (count-if #'swank-mcp::handle-object swank-mcp::*handles*))", "=> (200 8)")
	harness.Says(t, harness.Good(t, s, "inspect-object", harness.Object{"handle": "obj-301"}), "Dimensions: 1000000")
	harness.Good(t, s, "reset-session", harness.Object{})
	if after := heap(); after > before+20 {
		t.Errorf("the heap grew from %d to %d MB, and a reset frees nothing", before, after)
	}
}

// TestObserveAttached: in a person's image their traces, threads and profiler
// are theirs.
func TestObserveAttached(t *testing.T) {
	t.Parallel()
	p := harness.NewPerson(t, `(progn
	  (defun cl-user::theirs (x) (1+ x))
	  (defvar cl-user::*lines* (make-string-output-stream))
	  (defvar cl-user::*thread* (sb-thread:make-thread (lambda () (loop (sleep 1))) :name "their thread"))
	  (trace cl-user::theirs))`)
	s := harness.Attached(t, p)
	traced := func() string { t.Helper(); return p.Says("(trace)") }
	before := traced()
	if !strings.Contains(before, "THEIRS") {
		t.Fatalf("the person traces %s", before)
	}

	harness.Says(t, harness.Good(t, s, "trace-function", harness.Object{"functions": "theirs", "code": "(theirs 41)"}), "[trace]\n0: (THEIRS 41)\n0: THEIRS returned 42\n; 1 call of THEIRS")
	harness.Good(t, s, "trace-function", harness.Object{"functions": "theirs"})
	harness.Want(t, s, "(theirs 1)", "…0: THEIRS returned 2…")
	harness.Good(t, s, "reset-session", harness.Object{})
	if after := traced(); after != before {
		t.Errorf("the person traced %s, and now %s", before, after)
	}
	harness.Says(t, p.Says("(with-output-to-string (*trace-output*) (cl-user::theirs 5))"), "THEIRS 5", "returned 6")

	harness.Says(t, harness.Good(t, s, "list-threads", harness.Object{"backtraces": true}), "their thread: the program's\n   0: ", "main thread: the image's main thread", ": Swank's")
	harness.Says(t, harness.Good(t, s, "inspect-object", harness.Object{"code": "*thread*"}), `NAME: "their thread"`)
	harness.Says(t, harness.Good(t, s, "profile-code", harness.Object{"code": "(theirs 1)", "mode": "calls", "functions": "theirs"}), " 1  THEIRS")
	harness.WantReply(t, s, "memory-report", harness.Object{}, "Heap: …")

	// Samples that the person has taken are still there after ours.
	p.Says(`(progn (require :sb-sprof) (funcall (find-symbol "START-PROFILING" "SB-SPROF"))
	               (loop repeat 100000000) (funcall (find-symbol "STOP-PROFILING" "SB-SPROF")))`)
	samples := `(prin1-to-string (symbol-value (find-symbol "*SAMPLES*" "SB-SPROF")))`
	theirs := p.Says(samples)
	harness.Good(t, s, "profile-code", harness.Object{"code": "(loop repeat 10000000 sum 1)"})
	if now := p.Says(samples); now != theirs {
		t.Errorf("the person's samples were %s and are %s", theirs, now)
	}

	harness.Says(t, harness.Good(t, s, "interrupt-thread", harness.Object{"thread": "their thread", "action": "abort"}), "It was ended")
}
