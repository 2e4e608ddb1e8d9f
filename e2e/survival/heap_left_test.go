package survival

import (
	"regexp"
	"strings"
	"testing"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

// A thread that fills the heap when no evaluation runs is ended before the image is,
// and the next reply says so. Another one that does nothing stays.
func TestHeapFilledByALeftThread(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t, "--heap", "512")
	l := harness.Begin(t, s)
	harness.Want(t, s, `(defvar *idle* (sb-thread:make-thread (lambda () (sleep 1000)) :name "idle")) 1`, "=> 1")
	for _, c := range []struct{ name, code string }{
		{"arrays", `(let ((l nil)) (loop (push (make-array 1000) l)))`},
		{"interrupts off", `(sb-sys:without-interrupts (let ((l nil)) (loop (push (make-array 1000) l))))`},
		{"errors ignored", `(let ((l nil)) (loop (ignore-errors (loop (push (make-array 100000) l)))))`},
	} {
		idleGate := await.NewGate(t)
		harness.Eval(t, s, `(progn (sb-thread:make-thread (lambda () `+idleGate.Hold()+` `+c.code+`) :name "filler") 1)`)
		idleGate.Open()
		ended := func() bool {
			text := harness.Status(t, s) // a busy image may not say what threads there are
			return strings.Contains(text, "Threads: ") && !strings.Contains(text, "filler")
		}
		if await.Until(ended) != nil {
			t.Fatalf("%s: the thread is there still:\n%s", c.name, harness.Status(t, s))
		}
		text, _ := harness.Eval(t, s, "(sb-thread:thread-alive-p *idle*)")
		if !regexp.MustCompile(`(?s)^=> T\n; The thread "filler", which this session's code has started, was ended\. The heap is nearly exhausted: .* The thread was ended; what only it held is garbage\.$`).MatchString(text) {
			t.Errorf("%s: the next reply is\n%s", c.name, text)
		}
	}
	// An evaluation that waits for such a thread is not what fills the heap.
	text, _ := harness.EvalWithin(t, s, `(sb-thread:join-thread (sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (make-array 1000) l)))) :name "filler") :default :joined)`, 600)
	if !strings.HasPrefix(text, "=> :JOINED") || !strings.Contains(text, `The thread "filler"`) {
		t.Errorf("an evaluation that waits for it answered %s", text)
	}
	// Nor does one with interrupts off wake those who watch.
	harness.WantError(t, s, `(sb-sys:without-interrupts (let ((l nil)) (loop (push (make-array 1000) l))))`, "[ERROR] STORAGE-CONDITION\nThe heap is nearly exhausted")
	l.GoesOn(t, s)
}

// Code that fills the heap waits for the thread that watches this, however late that comes to look.
func TestHeapFilledWhileTheWatchIsLate(t *testing.T) {
	tier.More(t)
	t.Parallel()
	s := harness.Start(t, "--heap", "512")
	l := harness.Begin(t, s)
	harness.Want(t, s, `(defun delay-watch ()
  (sb-thread:interrupt-thread
   (or (find "swank-mcp heap watch" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)
       (error "no thread watches the heap"))
   (lambda () (sleep 1))))`, "=> DELAY-WATCH")
	harness.Want(t, s, `(defun fill-heap () (let ((l nil)) (loop (push (make-array 1000) l))))`, "=> FILL-HEAP")
	for _, c := range []string{"(fill-heap)", "(sb-sys:without-interrupts (fill-heap))"} {
		harness.WantError(t, s, "(progn (delay-watch) "+c+")", "[ERROR] STORAGE-CONDITION\nThe heap is nearly exhausted")
		text, _ := harness.EvalWithin(t, s, `(sb-thread:join-thread (sb-thread:make-thread
  (lambda () (delay-watch) `+c+`) :name "filler") :default :joined)`, 600)
		if !strings.HasPrefix(text, "=> :JOINED") || !strings.Contains(text, `The thread "filler"`) {
			t.Errorf("an evaluation that waits for a thread with %s answered %s", c, text)
		}
		harness.Want(t, s, `(let ((l nil)) (dotimes (i 300) (push (make-array 100000) l) (setf l (last l 5))) (length l))`, "=> 5")
	}
	l.GoesOn(t, s)
}
