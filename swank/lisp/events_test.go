package lisp

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"swank-mcp/internal/await"
)

// The life of a job is told in order; a death of the image, too.
func TestEvents(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	s := im.Subscribe(100, true)
	run := func(code string) {
		t.Helper()
		if _, err := im.Session("default").Evaluate(ByClient(t.Context(), "tester"), Request{Code: code, Timeout: callLimit, Debug: 1}); err != nil {
			t.Fatal(err)
		}
	}
	run("(+ 1 2)")
	g := await.NewGate(t)
	told := im.Subscribe(100, false)
	defer told.Close()
	go func() {
		for ev := range told.C {
			if ev.Output != "" {
				g.Open()
			}
		}
	}()
	run(fmt.Sprintf(`(progn (princ "printed") %s 3)`, g.Wait()))
	run(`(sb-ext:run-program "/bin/kill" (list "-9" (princ-to-string (sb-unix:unix-getpid))))`)
	run("4")
	s.Close()
	var got []string
	printed := ""
	for ev := range s.C {
		if ev.Kind == EventOutput {
			printed += ev.Output
			continue
		}
		text := fmt.Sprintf("%d %s", ev.Job, ev.Kind)
		if ev.Outcome != nil && ev.Outcome.Failure != "" {
			text += " " + ev.Outcome.Type
		} else if ev.Outcome != nil {
			text += " " + ev.Outcome.Values[0].Lines[0]
		}
		if ev.Job != 0 && ev.Client != "tester" {
			t.Errorf("%s is of the client %q", text, ev.Client)
		}
		if ev.Kind == EventBegun && (ev.Code == nil || !strings.HasPrefix(ev.Code.Lines[0], ev.Text[:min(6, len(ev.Text))])) {
			t.Errorf("%s: the code is %v", text, ev.Code)
		}
		if ev.Kind == EventQueued {
			text += " " + ev.Text[:min(6, len(ev.Text))]
		}
		got = append(got, text)
	}
	if printed != "printed" {
		t.Errorf("printed %q", printed)
	}
	// What is queued comes before the image that is started for it.
	ofJobs := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return strings.HasPrefix(s, "0 ") })
	want := []string{"1 queued (+ 1 2", "1 begun", "1 ended 3", "2 queued (progn", "2 begun", "2 ended 3", "3 queued (sb-ex", "3 begun",
		"3 ended IMAGE-DIED", "4 queued 4", "4 begun", "4 ended 4"}
	if !slices.Equal(ofJobs, want) {
		t.Errorf("told %q", ofJobs)
	}
	ofImages := slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "0 ") })
	if !slices.Equal(ofImages, []string{"0 image started", "0 image ended", "0 image replaced"}) {
		t.Errorf("told of images: %q", ofImages)
	}
}

// Who does not read misses events, is told how many, and slows nobody.
func TestEventsSlowSubscriber(t *testing.T) {
	t.Parallel()
	var e events
	slow := e.subscribe(1, false, 0)
	one := e.subscribe(10, false, 3)
	for i := range 5 {
		e.publish(Event{Kind: EventQueued, Job: int64(i)})
	}
	if slow.Lost() != 4 || one.Lost() != 0 {
		t.Errorf("lost %d and %d", slow.Lost(), one.Lost())
	}
	if ev := <-slow.C; ev.Job != 4 {
		t.Errorf("the one that is left is of job %d, want the newest", ev.Job)
	}
	if ev := <-one.C; ev.Job != 3 {
		t.Errorf("that of one job is of job %d", ev.Job)
	}
	slow.Close()
	slow.Close()
	e.publish(Event{Kind: EventQueued})
	if _, open := <-slow.C; open {
		t.Error("it is open after Close")
	}
}

// The next job of a session begins after the one before has ended.
func TestEventsOfAQueue(t *testing.T) {
	t.Parallel()
	im := testImage(t)
	sub := im.Subscribe(1000, false)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { mustEval(t, im, "(+ 1 2)") })
	}
	all.Wait()
	sub.Close()
	running := int64(0)
	for ev := range sub.C {
		switch ev.Kind {
		case EventBegun:
			if running != 0 {
				t.Errorf("%d begins while %d runs", ev.Job, running)
			}
			running = ev.Job
		case EventEnded:
			running = 0
		}
	}
}
