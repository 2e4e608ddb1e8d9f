package lisp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/await"
)

// An event has the beginning and the end of long texts, and says how much is missing.
func TestBoundedResult(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 50_000)
	r := &Result{
		Stdout: Text{Head: long, Tail: long, Omitted: 7}, Stderr: Text{Head: "short"},
		Failure: &Failure{Type: "ERROR", Message: long, Frames: make([]string, 80), More: 1},
		Notes:   []string{long},
	}
	for range 80 {
		r.Values = append(r.Values, Text{Head: long})
	}
	b := r.bounded()
	whole := func(t Text) int64 { return int64(len([]rune(t.Head))+len([]rune(t.Tail))) + t.Omitted }
	if n := len([]rune(b.Stdout.Head + b.Stdout.Tail)); n != eventOutput || whole(b.Stdout) != 100_007 {
		t.Errorf("stdout has %d characters, and stands for %d", n, whole(b.Stdout))
	}
	if b.Stderr != (Text{Head: "short"}) {
		t.Errorf("stderr is %v", b.Stderr)
	}
	all := 0
	for _, v := range b.Values {
		all += len([]rune(v.Head + v.Tail))
		if whole(v) != 50_000 {
			t.Errorf("a value stands for %d characters", whole(v))
		}
	}
	if len(b.Values) != eventPieces || all > eventValues+eventPieces*eventFrame {
		t.Errorf("%d values have %d characters", len(b.Values), all)
	}
	if f := b.Failure; len(f.Frames) != eventPieces || f.More != 31 || len([]rune(f.Message)) != eventMessage+1 {
		t.Errorf("the failure has %d frames, %d more, and %d characters", len(f.Frames), f.More, len([]rune(f.Message)))
	}
	if len(r.Failure.Frames) != 80 || len([]rune(r.Failure.Message)) != 50_000 || len(r.Values) != 80 {
		t.Error("the result itself was changed")
	}
}

// Who begins to watch sees what work that runs has printed before, too.
func TestOutputOnDemand(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	s := im.Subscribe(100, false)
	mustEval(t, im, "1")
	g := await.NewGate(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		mustEval(t, im, fmt.Sprintf(`(progn (princ "before") %s (princ "after") (sleep 1))`, g.Wait()))
	}()
	printed, results := "", 0
	note := func(ev Event) {
		printed += ev.Output
		if ev.Kind == EventBegun && ev.Source.Head == "" {
			t.Errorf("of %s the code is missing", ev.Text)
		}
		if ev.Kind == EventEnded && ev.Result != nil {
			results++
		}
	}
	g.Reached()
	time.Sleep(2 * progressEvery) // it could have been asked for, and nobody wanted it
	s.WantOutput(true)
	for printed == "" && results < 2 {
		note(<-s.C)
	}
	s.WantOutput(false)
	if _, err := im.Session("default").Status(t.Context()); err != nil { // answered after what was asked before
		t.Error(err)
	}
	g.Open()
	<-done
	s.Close()
	for ev := range s.C {
		note(ev)
	}
	if printed != "before" || results != 2 {
		t.Errorf("printed %q, %d results", printed, results)
	}
}

// The overview names what each session does, of an image that runs or not.
func TestOverview(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	if o := im.Overview(); o.State != "not started" || o.PID != 0 || len(o.Sessions) != 0 {
		t.Errorf("at first: %+v", o)
	}
	g := await.NewGate(t)
	mustEval(t, im, fmt.Sprintf("(defun pass () %s)", g.Wait()))
	done := make(chan struct{})
	go func() {
		defer close(done)
		mustEval(t, im, "(pass)")
	}()
	defer func() { g.Open(); <-done }()
	g.Reached()
	o := im.Overview()
	if o.State != "running" || o.PID == 0 || len(o.Sessions) != 1 {
		t.Fatalf("while it runs: %+v", o)
	}
	if heap := im.Heap(t.Context()); heap.Used == 0 || heap.Limit < heap.Used || heap.Silent != "" {
		t.Errorf("its heap while it runs: %+v", heap)
	}
	if r := o.Sessions[0].Running; r == nil || r.Code != "(pass)" || r.Age <= 0 {
		t.Errorf("the session runs %+v", r)
	}
}
