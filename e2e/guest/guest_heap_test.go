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
	runawayHeap = flag.Int("runaway.heap", 1024, "in a person's image with a heap of so many MB")
)

// personWithHeap launches a person's image with -runaway.heap and something of theirs in it,
// and a server that is attached to it.
func personWithHeap(t *testing.T) (*harness.Person, *harness.Server) {
	t.Helper()
	loader, err := harness.SwankLoader()
	harness.Check(t, err)
	p, err := harness.LaunchPerson([]string{"--dynamic-space-size", fmt.Sprint(*runawayHeap, "MB")},
		fmt.Sprintf(`(progn (load %q) (funcall (intern "INIT" "SWANK-LOADER")))`, loader), 0, "", harness.Environ(harness.Run.Dir),
		`(progn (defvar cl-user::*theirs* (make-array 2000000 :initial-element 7)) (defun cl-user::theirs () (reduce '+ cl-user::*theirs*)))`)
	harness.Check(t, err)
	p.Watch(t)
	return p, harness.Attached(t, p)
}

// tellingOfHeap returns the reply that tells of the heap: text, or one that comes later. One alone
// does, and the last reply is returned where none does.
func tellingOfHeap(t *testing.T, s *harness.Server, text string) string {
	t.Helper()
	if strings.Contains(text, "heap") {
		return text
	}
	_ = await.Until(func() bool {
		text, _ = harness.EvalWithin(t, s, "(values)", 60)
		return strings.Contains(text, "heap")
	})
	return text
}

// A session that fills the heap of a person's image is ended before the image is.
func TestGuestHeap(t *testing.T) {
	tier.More(t)
	t.Parallel()
	ways, times := runaways[:4], 1
	if *runawayFlag > 0 {
		ways, times = runaways, *runawayFlag
	}
	p, s := personWithHeap(t)
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
				text, isErr = tellingOfHeap(t, s, text), true
			}
			ok := isErr && (strings.Contains(text, "STORAGE-CONDITION") || strings.Contains(text, `The thread "filler", which this session's code has started, was ended. The heap is nearly exhausted`))
			if ok {
				told++
			} else {
				t.Errorf("%s: the agent was told (isError %v, after %v):\n%.1500s", way.name, isErr, took, text)
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Pid())); err != nil {
				t.Errorf("%s: the person's image is gone", way.name)
				p, s = personWithHeap(t)
				continue
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

// Code with interrupts off that fills the heap of a person's image looks at it by itself, however
// late the thread that watches comes to look.
func TestGuestHeapWhileTheWatchIsLate(t *testing.T) {
	tier.More(t)
	t.Parallel()
	p, s := personWithHeap(t)
	harness.WantError(t, s, `(progn
  (sb-thread:interrupt-thread
   (or (find "swank-mcp heap watch" (sb-thread:list-all-threads) :key #'sb-thread:thread-name :test #'equal)
       (error "no thread watches the heap"))
   (lambda () (sleep 2)))
  (sb-sys:without-interrupts (let ((l nil)) (loop (push (make-array 1000) l)))))`,
		"[ERROR] STORAGE-CONDITION\nThe heap is nearly exhausted")
	if got := p.Says("(theirs)"); got != "14000000" {
		t.Errorf("the person's state is %s", got)
	}
	harness.Want(t, s, "(+ 1 2)", "=> 3")
}
