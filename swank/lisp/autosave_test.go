package lisp

import (
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/kept"
)

// An image that was idle for a while is saved to the disk, once, and again when something
// was done; with a thread of the program's, as it was before that, which is told once.
func TestAutosave(t *testing.T) {
	tier.More(t)
	t.Parallel()
	cores, err := kept.CoresIn(nil, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	config := Config{Launch: launched(t), Cores: cores}
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended }) // after the image is closed
	im := imageOf(t, config)
	saved := func(count int) []*kept.Core {
		t.Helper()
		for limit := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
			list := cores.List()
			if len(list) == count || time.Now().After(limit) {
				if len(list) != count {
					t.Errorf("%d are on the disk instead of %d", len(list), count)
				}
				return list
			}
		}
	}
	mustEval(t, im, "(defvar *state* (list 1))")
	go func() {
		im.autosaves(300 * time.Millisecond)
		close(ended)
	}()
	saved(1)
	time.Sleep(time.Second) // nothing is new
	saved(1)
	time.Sleep(time.Until(cores.List()[0].Time.Add(1100 * time.Millisecond))) // its name has seconds
	mustEval(t, im, "(push 2 *state*)")
	newest := saved(2)[0]
	if newest.After != "(push 2 *state*)" || newest.Summary != "1 definition" || !newest.Auto {
		t.Errorf("saved: %+v", newest)
	}
	mustEval(t, im, `(defvar *thread* (sb-thread:make-thread (lambda () (sleep 100)) :name "theirs"))`)
	time.Sleep(time.Second)
	saved(2)
	mustTell := func(when, want string) {
		t.Helper()
		if got := strings.Join(im.disk.hear(), "\n"); got != want {
			t.Errorf("%s it says %q, want %q", when, got, want)
		}
	}
	told := "The work was not saved to the disk, but for what there was at " + clock(newest.Time) + ": threads of the program are running: theirs."
	mustTell("after some tries", told)
	mustEval(t, im, "(push 3 *state*)")
	time.Sleep(time.Second)
	mustTell("after a call more", "")

	config.Resume = kept.Last
	next := imageOf(t, config)
	if got := mustEval(t, next, "*state*"); !strings.HasPrefix(got, "(2 1)") {
		t.Errorf("it is back: %s", got)
	}
	if got := next.Session("default").journal.Summary(); got != "1 definition" {
		t.Errorf("the session has %s", got)
	}
}
