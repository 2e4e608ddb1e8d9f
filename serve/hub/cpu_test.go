package hub

import (
	"errors"
	"strings"
	"testing"
	"time"

	"swank-mcp/internal/tier"
	"swank-mcp/mcpbridge"
	"swank-mcp/swank/lisp"
)

// A principal whose sessions have used up what they may use is stopped in all of them, and is
// told when to come back; others are not. What goes on then is ended with its image, and the
// next hour begins anew with what was defined.
func TestProcessorTime(t *testing.T) {
	tier.More(t)
	t.Parallel()
	const limit = 1000 * time.Second
	h := testHub(t, Options{Limits: Limits{CPU: limit}})
	run := func(principal, name, code string) *lisp.Result {
		s, err := h.Named(t.Context(), principal, name)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Enter()()
		if err := s.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		res, err := s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: code, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	const spin = "(loop)"
	for _, c := range []struct{ principal, name, code string }{
		{"anna", "idle", "(+ 1 2)"}, {"bert", "x", "(+ 1 2)"},
		{"anna", "x", "(defun spin () (loop)) (defvar *v* 1) (sb-thread:make-thread (lambda () (sleep 12) (spin)))"},
	} {
		if res := run(c.principal, c.name, c.code); res.Failure != nil {
			t.Fatal(res.Failure)
		}
	}
	pid := func(name string) int {
		s, err := h.Named(t.Context(), "anna", name)
		if err != nil {
			t.Fatal(err)
		}
		return s.Work().Image.Uses(false).PID
	}
	first, other := pid("x"), pid("idle")
	may := func(principal, name string) error {
		s, err := h.Named(t.Context(), principal, name)
		if err != nil {
			t.Fatal(err)
		}
		return s.May()
	}
	if err := may("anna", "x"); err != nil {
		t.Fatal(err)
	}
	h.mu.Lock()
	h.spent["anna"] = &cpuSpending{since: time.Now(), used: limit - 3*time.Second}
	h.mu.Unlock()
	idle := make(chan *lisp.Result, 1)
	go func() { idle <- run("anna", "idle", "(loop (sleep 0.05))") }()
	began := time.Now()
	res := run("anna", "x", spin)
	if f := res.Failure; f == nil || f.Type != "LIMIT-REACHED" || !strings.HasPrefix(f.Message, "Your sessions have used ") ||
		!strings.Contains(f.Message, ", and the limit is 1000 in an hour. Send the same again in 3") {
		t.Errorf("after %v: %+v", time.Since(began), f)
	}
	if f := (<-idle).Failure; f == nil || f.Type != "LIMIT-REACHED" {
		t.Errorf("the other session of the same principal: %+v", f)
	}
	var full *LimitError
	for _, name := range []string{"x", "idle", "new"} {
		if err := may("anna", name); !errors.As(err, &full) || !full.Own || full.After < 50*time.Minute || full.After > cpuSpan ||
			!strings.Contains(err.Error(), " Nothing was done. Send the same again in 3") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := may("bert", "x"); err != nil {
		t.Errorf("another principal: %v", err)
	}
	if res := run("bert", "x", "(let ((end (+ (get-internal-run-time) 1000000))) (loop while (< (get-internal-run-time) end)) 1)"); res.Failure != nil {
		t.Errorf("another principal: %+v", res.Failure)
	}

	// The thread that goes on: another image takes the place of its own.
	for end := time.Now().Add(time.Minute); pid("x") == first; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the image stays in which something goes on")
		}
	}
	if pid("idle") != other {
		t.Error("the image that does nothing was ended, too")
	}
	h.mu.Lock()
	h.spent["anna"].since = time.Now().Add(-cpuSpan)
	h.mu.Unlock()
	if err := may("anna", "x"); err != nil {
		t.Errorf("an hour later: %v", err)
	}
	if res := run("anna", "x", "(list *v* (fboundp 'spin))"); res.Failure != nil || !strings.HasPrefix(res.Values[0].Head, "(1 #<FUNCTION SPIN") {
		t.Errorf("an hour later: %+v, %v", res.Failure, res.Values)
	}
}
