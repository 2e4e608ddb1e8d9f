package e2e

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/e2e/wire"
)

func TestEvaluationsKeepTheirOrder(t *testing.T) {
	s := start(t)
	l := begin(t, s)
	want(t, s, "(defvar *seen* nil)", "=> *SEEN*")
	var calls []*wire.Pending
	for i := range 40 {
		p, err := s.GoTool("evaluate-lisp", map[string]any{"code": fmt.Sprintf("(progn (sleep %f) (push %d *seen*) %d)", float64(i%4)/200, i, i)}, wire.CallOptions{})
		if err != nil {
			t.Fatal(err)
		}
		calls = append(calls, p)
	}
	for i, p := range calls {
		var r wire.Result
		if err := p.Wait(t.Context(), &r); err != nil || r.Text() != fmt.Sprintf("=> %d", i) {
			t.Fatalf("call %d answered %v, %q", i, err, r.Text())
		}
	}
	want(t, s, "(equal (reverse *seen*) (loop for i below 40 collect i))", "=> T")
	l.goesOn(t, s)
}

// A call whose turn does not come within its time limit says what it waits for.
func TestBusySession(t *testing.T) {
	t.Parallel()
	s := start(t)
	l := begin(t, s)
	first, err := s.GoTool("evaluate-lisp", map[string]any{"code": "(progn (sleep 3) :first)"}, wire.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	began := time.Now()
	r := call(t, s, patience, "evaluate-lisp", map[string]any{"code": "(setf *kept* :harmed)", "timeout": 1})
	took := time.Since(began)
	if !r.IsError || !strings.Contains(r.Text(), "(progn (sleep 3) :first)") {
		t.Errorf("the waiting call does not name the running evaluation (isError %v):\n%s", r.IsError, r.Text())
	}
	if took < 900*time.Millisecond || took > 2*time.Second {
		t.Errorf("the waiting call was answered after %v, with a time limit of 1 s", took)
	}
	if text := strings.ToLower(r.Text()); !strings.Contains(text, "cancel") && !strings.Contains(text, "stop") {
		t.Errorf("the reply does not say how to stop the running evaluation:\n%s", r.Text())
	}
	var f wire.Result
	if err := first.Wait(t.Context(), &f); err != nil || f.Text() != "=> :FIRST" {
		t.Errorf("the running evaluation answered %v, %q", err, f.Text())
	}
	l.goesOn(t, s)
}

func TestOtherToolsAnswerMeanwhile(t *testing.T) {
	s := start(t)
	l := begin(t, s)
	p, err := s.GoTool("evaluate-lisp", map[string]any{"code": "(progn (sleep 2) :slept)"}, wire.CallOptions{})
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond)
	for range 5 {
		began := time.Now()
		text := status(t, s)
		if d := time.Since(began); d > 500*time.Millisecond {
			t.Errorf("session-status took %v during an evaluation", d)
		}
		if !strings.Contains(text, "(progn (sleep 2) :slept)") {
			t.Errorf("session-status does not show the running evaluation:\n%s", text)
		}
	}
	var r wire.Result
	if err := p.Wait(t.Context(), &r); err != nil || r.Text() != "=> :SLEPT" {
		t.Errorf("the evaluation answered %v, %q", err, r.Text())
	}
	l.goesOn(t, s)
}

func TestProgress(t *testing.T) {
	for _, era := range []wire.Era{wire.Handshake, wire.Stateless} {
		t.Run(era.String(), func(t *testing.T) {
			s := startWith(t, wire.Options{Era: era})
			var mu sync.Mutex
			var seen []wire.Progress
			p, err := s.GoTool("evaluate-lisp", map[string]any{"code": `(dotimes (i 200) (format t "tick ~D~%" i) (sleep 0.01))`},
				wire.CallOptions{Progress: func(p wire.Progress) { mu.Lock(); seen = append(seen, p); mu.Unlock() }})
			if err != nil {
				t.Fatal(err)
			}
			var r wire.Result
			if err := p.Wait(t.Context(), &r); err != nil || r.IsError || !strings.Contains(r.Text(), "tick 199") {
				t.Fatalf("answered %v, %q", err, r.Text())
			}
			time.Sleep(300 * time.Millisecond) // late ones would be a fault
			mu.Lock()
			defer mu.Unlock()
			if len(seen) < 4 || len(seen) > 13 {
				t.Errorf("%d progress notifications in 2 s, want at most five a second and some", len(seen))
			}
			var all strings.Builder
			last := -1.0
			for _, n := range seen {
				all.WriteString(n.Message)
				if n.Progress <= last {
					t.Errorf("progress went from %v to %v", last, n.Progress)
				}
				last = n.Progress
			}
			if !strings.Contains(all.String(), "tick 0") {
				t.Errorf("the output is not shown: %q", all.String())
			}
			if n := s.Unexpected(); len(n) > 0 {
				t.Errorf("messages that belong to no request: %q", n)
			}
		})
	}
}

// Five seconds without output still bring a sign of life.
func TestProgressOfSilence(t *testing.T) {
	t.Parallel()
	s := start(t)
	signs := make(chan time.Time, 100)
	p, err := s.GoTool("evaluate-lisp", map[string]any{"code": "(sleep 6.5)"},
		wire.CallOptions{Progress: func(wire.Progress) { signs <- time.Now() }})
	if err != nil {
		t.Fatal(err)
	}
	var r wire.Result
	if err := p.Wait(t.Context(), &r); err != nil || r.Text() != "=> NIL" {
		t.Fatalf("answered %v, %q", err, r.Text())
	}
	if len(signs) == 0 {
		t.Error("no sign of life in 6.5 s of silence")
	}
}

func TestBothEras(t *testing.T) {
	t.Parallel()
	for _, era := range []wire.Era{wire.Handshake, wire.Stateless} {
		t.Run(era.String(), func(t *testing.T) {
			s := startWith(t, wire.Options{Era: era})
			l := begin(t, s)
			var list struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              map[string]any
					OutputSchema             any
					Annotations              map[string]any
				}
			}
			if err := s.Call(t.Context(), "tools/list", nil, &list); err != nil {
				t.Fatal(err)
			}
			names := map[string]bool{}
			for _, tool := range list.Tools {
				names[tool.Name] = true
				if tool.Title == "" && tool.Annotations["title"] == nil || len(tool.Description) > 1000 || len(tool.Description) < 40 || tool.OutputSchema != nil {
					t.Errorf("%s: title %q, description of %d bytes, output schema %v", tool.Name, tool.Title, len(tool.Description), tool.OutputSchema)
				}
				for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
					if _, ok := tool.Annotations[hint].(bool); !ok {
						t.Errorf("%s: annotation %s is %v", tool.Name, hint, tool.Annotations[hint])
					}
				}
				properties, _ := tool.InputSchema["properties"].(map[string]any)
				for name, p := range properties {
					if m, ok := p.(map[string]any); !ok || m["description"] == nil {
						t.Errorf("%s: argument %s has no description", tool.Name, name)
					}
				}
			}
			for _, name := range []string{"evaluate-lisp", "session-status", "read-output"} {
				if !names[name] {
					t.Errorf("no tool %s in %v", name, names)
				}
			}
			cancelAfter(t, s, "(sleep 100)", 300*time.Millisecond)
			l.goesOn(t, s)
		})
	}
}
