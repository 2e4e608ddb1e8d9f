package guest

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

var (
	runawayFlag = flag.Int("runaway", 0, "fill the heap of a person's image in each way so many times; 0: a few ways once")
	runawayOnly = flag.String("runaway.only", "", "in this way only")
)

// runaways are ways to fill a heap.
var runaways = []struct {
	name, code string
	later      bool // the evaluation ends at once, and its thread goes on
}{
	{name: "arrays", code: `(let ((l nil)) (loop (push (make-array 1000) l)))`},
	{name: "a thread that is left", later: true, code: `(sb-thread:make-thread (lambda () (let ((l nil)) (loop (push (make-array 1000) l)))) :name "filler") 1`},
	{name: "conses", code: `(let ((l nil)) (loop (push 1 l)))`},
	{name: "interrupts off", code: `(sb-sys:without-interrupts (let ((l nil)) (loop (push (make-array 1000) l))))`},
	{name: "a global variable", code: `(defvar *runaway*) (setf *runaway* nil) (unwind-protect (loop (push (make-array 1000) *runaway*)) (setf *runaway* nil))`},
	{name: "errors ignored", code: `(let ((l nil)) (loop (ignore-errors (loop (push (make-array 1000000) l)))))`},
	{name: "storage conditions handled", code: `(let ((l nil)) (loop (handler-case (loop (push (make-array 100000) l)) (serious-condition () nil))))`},
	{name: "strings", code: `(let ((l nil)) (loop (push (make-string 1000) l)))`},
	{name: "a hash table", code: `(let ((h (make-hash-table))) (loop for i from 0 do (setf (gethash i h) (list i i))))`},
	{name: "a growing vector", code: `(let ((v (make-array 10 :adjustable t :fill-pointer 0))) (loop (vector-push-extend (list 1 2) v)))`},
	{name: "a string stream", code: `(with-output-to-string (s) (loop (write-string "something long enough to count" s)))`},
	{name: "bignums", code: `(let ((l nil)) (loop for i from 100000 do (push (ash 1 i) l)))`},
	{name: "closures", code: `(let ((l nil)) (loop for i from 0 do (let ((j i)) (push (lambda () (incf j)) l))))`},
	{name: "instances", code: `(defclass runaway () ((a :initform (make-array 20)))) (let ((l nil)) (loop (push (make-instance 'runaway) l)))`},
	{name: "symbols", code: `(let ((l nil)) (loop (push (gensym "LONGER-THAN-USUAL") l)))`},
	{name: "large arrays", code: `(let ((l nil)) (loop (push (make-array 5000000) l)))`},
	{name: "one that is too large", code: `(make-array 500000000)`},
	{name: "a list doubled", code: `(let ((l (list 1))) (loop (setf l (append l l))))`},
	{name: "pages half empty", code: `(let ((l nil)) (loop (push (make-array 4200) l)))`},
	{name: "cleanup forms", code: `(let ((l nil)) (unwind-protect (error "first") (loop (push (make-array 1000) l))))`},
}

// A session that fills the heap of a person's image is ended before the image is.
func TestGuestHeap(t *testing.T) {
	tier.More(t)
	t.Parallel()
	ways, times := runaways[:3], 1
	if *runawayFlag > 0 {
		ways, times = runaways, *runawayFlag
	}
	loader, err := harness.SwankLoader()
	harness.Check(t, err)
	p, err := harness.LaunchPerson([]string{"--dynamic-space-size", "1024MB"},
		fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER")))`, loader), 0, "", harness.Environ(harness.Run.Dir),
		`(progn (defvar cl-user::*theirs* (make-array 2000000 :initial-element 7)) (defun cl-user::theirs () (reduce '+ cl-user::*theirs*)))`)
	harness.Check(t, err)
	p.Watch(t)
	s := harness.Attached(t, p)
	alive, told := 0, 0
	for _, way := range ways {
		if *runawayOnly != "" && way.name != *runawayOnly {
			continue
		}
		for range times {
			began := time.Now()
			text, isErr := harness.EvalWithin(t, s, way.code, 60)
			took := time.Since(began)
			if way.later {
				_ = await.Until(func() bool {
					text, _ = harness.EvalWithin(t, s, "(values)", 60)
					return strings.Contains(text, "heap")
				})
				isErr = true
			}
			ok := isErr && (strings.Contains(text, "STORAGE-CONDITION") || strings.Contains(text, `The thread "filler", which this session's code has started, was ended. The heap is nearly exhausted`))
			if ok {
				told++
			} else {
				t.Errorf("%s: the agent was told (isError %v, after %v):\n%.1500s", way.name, isErr, took, text)
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err != nil {
				t.Fatalf("%s: the person's image is gone", way.name)
			}
			if got := p.Says("(theirs)"); got != "14000000" {
				t.Fatalf("%s: the person's state is %s", way.name, got)
			}
			alive++
		}
		t.Logf("%-26s alive %d, told %d; heap %s", way.name, alive, told, p.Says("(values (floor (sb-kernel:dynamic-usage) 1000000))"))
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
	t.Logf("of %d the person's image was alive with its state after %d, and the agent told of %d", len(ways)*times, alive, told)
}
