package hub

import (
	"errors"
	"strings"
	"testing"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// realWork makes what a session works with, with a real image.
func realWork(newID func() string, left *kept.File) *Work {
	im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true}, NoCheckpoints: true})
	im.Session(mcpbridge.DefaultSession).KeepIn(left)
	return &Work{Image: im, Session: mcpbridge.DefaultSession, Kept: left, Bridge: bridgeOf(im, newID, left)}
}

func bridgeOf(im *lisp.Image, newID func() string, left *kept.File) Bridge {
	return mcpbridge.New(mcpbridge.Options{
		Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID, Kept: left})
}

// perform does what a request does that evaluates code.
func perform(t *testing.T, h *Hub, name, code string) *lisp.Result {
	t.Helper()
	s := named(t, h, name)
	defer s.Enter()()
	if err := s.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, err := s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: code, Timeout: time.Minute})
	if err != nil {
		t.Fatal(code, err)
	}
	return res
}

// evaluate is perform for code that has a value, which it returns.
func evaluate(t *testing.T, h *Hub, name, code string) string {
	t.Helper()
	res := perform(t, h, name, code)
	if res.Failure != nil {
		t.Fatal(code, res.Failure)
	}
	return res.Values[0].Head
}

// With real images, on a volume that two hubs share: a session goes from one to the other with
// what it has defined, and its image ends; what uses too much of the processor is stopped; what
// goes on is ended with its image, and the next image has what was defined.
func TestRealImages(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	a, _ := replica(t, volume, Limits{}, realWork)
	const limit = 1000 * time.Second
	b, _ := replica(t, volume, Limits{CPU: limit}, realWork)
	evaluate(t, a, "x", "(defun f () 1)")
	s := named(t, a, "x")
	if v := evaluate(t, b, "x", "(f)"); v != "1" {
		t.Errorf("the other one has %s", v)
	}
	_, err := s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: "1", Timeout: time.Minute})
	if list := a.List(); len(list) != 0 || !errors.Is(err, lisp.ErrClosed) {
		t.Errorf("still there: %v, %v", list, err)
	}

	s = named(t, b, "x")
	spend := func(used, after time.Duration) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.spentLocked("anna").used, s.cpu.after = used, after
	}
	evaluate(t, b, "x", "(prog1 1 (sb-thread:make-thread (lambda () (loop))))")
	spend(limit-time.Millisecond, 0)
	if f := perform(t, b, "x", "(loop)").Failure; f == nil || f.Type != "LIMIT-REACHED" || !strings.HasPrefix(f.Message, "Your sessions have used 100") {
		t.Errorf("what uses too much ends so: %+v", f)
	}
	events := s.Work().Image.Subscribe(1, false)
	spend(limit+1, afterlife)
	if e := <-events.C; e.Kind != lisp.EventImageEnded && e.Kind != lisp.EventImageReplaced {
		t.Errorf("what goes on: %+v", e)
	}
	b.mu.Lock()
	delete(b.spent, "anna") // an hour later
	b.mu.Unlock()
	if v := evaluate(t, b, "x", "(f)"); v != "1" {
		t.Errorf("the next image has %s", v)
	}
}
