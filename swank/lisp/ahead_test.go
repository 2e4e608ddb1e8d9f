package lisp

import (
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/internal/tier"
	"swank-mcp/swank/lisp/launch"
)

// An image that was started ahead is the first one, with nothing in it, and is replaced and
// has checkpoints like any other. One that has died is not taken.
func TestAhead(t *testing.T) {
	tier.More(t)
	t.Parallel()
	c := launch.Config{NoUserInit: true}
	ahead := func() *Ahead {
		t.Helper()
		a, err := StartAhead(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	dead, good := ahead(), ahead()
	dead.inst.proc.Kill()
	<-dead.inst.proc.Exited()
	if dead.Alive() || !good.Alive() {
		t.Fatalf("alive: %v, %v", dead.Alive(), good.Alive())
	}
	var mu sync.Mutex
	waiting := []*Ahead{dead, good}
	im := New(Config{Launch: c, Ahead: func() (a *Ahead) {
		mu.Lock()
		defer mu.Unlock()
		if len(waiting) > 0 {
			a, waiting = waiting[0], waiting[1:]
		}
		return a
	}})
	defer func() {
		if err := im.Close(t.Context()); err != nil || good.Alive() {
			t.Errorf("Close: %v, it runs: %v", err, good.Alive())
		}
	}()
	mustEval(t, im, "(defun twice (x) (* 2 x))")
	first := im.pid(t)
	if first == dead.PID() || first == good.PID() {
		t.Errorf("the first image is %d, one of %d, which is dead, and %d, which was not asked for", first, dead.PID(), good.PID())
	}
	if err := im.Hibernate(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, err := im.Session("default").Evaluate(t.Context(), Request{Code: "(list (twice 21) (boundp '*))", Timeout: time.Minute, Debug: 1})
	if err != nil || res.Failure != nil || !strings.HasPrefix(res.Values[0].Head, "(42 ") {
		t.Fatalf("%+v, %v", res, err)
	}
	if im.pid(t) != good.PID() {
		t.Error("the image that was put away has not been replaced by the one that was started ahead")
	}
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "Restored: 1 definition") {
		t.Errorf("notes: %s", notes)
	}
	for end := time.Now().Add(time.Minute); !im.timeline.any(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it has no checkpoint")
		}
	}
	if got := failing(t, im, "(cl-user::undefined-here)", time.Minute); !strings.Contains(got.Type, "UNDEFINED-FUNCTION") {
		t.Errorf("an error is %+v", got)
	}
}

// pid is the process of the image that runs.
func (im *Image) pid(t *testing.T) int {
	t.Helper()
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.cur == nil {
		t.Fatal("no image runs")
	}
	return im.cur.proc.PID()
}
