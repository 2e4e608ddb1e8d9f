package session

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"swank-mcp/e2e/harness"
	"swank-mcp/e2e/wire"
	"swank-mcp/internal/await"
	"swank-mcp/internal/tier"
)

func TestEvaluationsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	harness.Want(t, s, "(defvar *seen* nil)", "=> *SEEN*")
	var calls []*wire.Pending
	for i := range 40 {
		p := harness.SendCall(t, s, fmt.Sprintf("(progn (sleep %f) (push %d *seen*) %d)", float64(i%4)/200, i, i))
		calls = append(calls, p)
	}
	for i, p := range calls {
		harness.WantAnswer(t, p, fmt.Sprintf("=> %d", i))
	}
	harness.Want(t, s, "(equal (reverse *seen*) (loop for i below 40 collect i))", "=> T")
	l.GoesOn(t, s)
}

// A call whose turn does not come within its time limit says what it waits for.
func TestBusySession(t *testing.T) {
	t.Parallel()
	s := harness.Start(t)
	l := harness.Begin(t, s)
	gate := await.NewGate(t)
	first := harness.Begun(t, s, "(prog1 :first "+gate.Hold()+")")
	began := time.Now()
	r := harness.Call(t, s, "evaluate-lisp", harness.Object{"code": "(setf *kept* :harmed)", "timeout": 1})
	took := time.Since(began)
	harness.Says(t, r.Text(), "(prog1 :first (loop until ") // what runs
	if took < 900*time.Millisecond {
		t.Errorf("the waiting call was answered after %v, with a time limit of 1 s", took)
	}
	if text := strings.ToLower(r.Text()); !r.IsError || !strings.Contains(text, "cancel") && !strings.Contains(text, "stop") {
		t.Errorf("the reply does not say how to stop the running evaluation:\n%s", r.Text())
	}
	gate.Open()
	harness.WantAnswer(t, first, "=> :FIRST")
	l.GoesOn(t, s)
}

func TestOtherToolsAnswerMeanwhile(t *testing.T) {
	s := harness.Start(t)
	l := harness.Begin(t, s)
	gate := await.NewGate(t)
	p := harness.Begun(t, s, "(prog1 :waited "+gate.Hold()+")")
	for range 5 {
		harness.Says(t, harness.Status(t, s), "(prog1 :waited (loop until ") // it is answered before the gate is opened
	}
	gate.Open()
	harness.WantAnswer(t, p, "=> :WAITED")
	l.GoesOn(t, s)
}

func TestProgress(t *testing.T) {
	tier.More(t)
	t.Parallel()
	for _, era := range []wire.Era{wire.Handshake, wire.Stateless} {
		t.Run(era.String(), func(t *testing.T) {
			s := harness.StartWith(t, wire.Options{Era: era})
			var mu sync.Mutex
			var seen []wire.Progress
			p, err := s.GoTool("evaluate-lisp", harness.Object{"code": `(dotimes (i 200) (format t "tick ~D~%" i) (sleep 0.01))`},
				wire.CallOptions{Progress: func(p wire.Progress) { mu.Lock(); seen = append(seen, p); mu.Unlock() }})
			harness.Check(t, err)
			harness.WantAnswer(t, p, "…tick 199…")
			took := time.Since(p.Sent)         // 2 s, and more on a busy machine
			time.Sleep(300 * time.Millisecond) // late ones would be a fault
			mu.Lock()
			defer mu.Unlock()
			if most := 5*took.Seconds() + 3; len(seen) < 4 || float64(len(seen)) > most {
				t.Errorf("%d progress notifications in %v, want at most five a second and some", len(seen), took)
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
	tier.More(t)
	t.Parallel()
	s := harness.Start(t)
	signs := make(chan time.Time, 100)
	p, err := s.GoTool("evaluate-lisp", harness.Object{"code": "(sleep 6.5)"},
		wire.CallOptions{Progress: func(wire.Progress) { signs <- time.Now() }})
	harness.Check(t, err)
	harness.WantAnswer(t, p, "=> NIL")
	if len(signs) == 0 {
		t.Error("no sign of life in 6.5 s of silence")
	}
}

func TestBothEras(t *testing.T) {
	t.Parallel()
	for _, era := range []wire.Era{wire.Handshake, wire.Stateless} {
		t.Run(era.String(), func(t *testing.T) {
			s := harness.StartWith(t, wire.Options{Era: era})
			l := harness.Begin(t, s)
			var list struct {
				Tools []struct {
					Name, Title, Description string
					InputSchema              map[string]any
					OutputSchema             any
					Annotations              map[string]any
				}
			}
			harness.Check(t, s.Call(t.Context(), "tools/list", nil, &list))
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
			harness.Cancelled(t, s, "(sleep 100)")
			l.GoesOn(t, s)
		})
	}
}
