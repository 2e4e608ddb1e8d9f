package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/launch"
)

// testHub makes sessions with real images, which are closed at the end of the test.
func testHub(t *testing.T, o Options) *Hub {
	t.Helper()
	if o.Make == nil {
		o.Make = func(_ ID, newID func() string) (*Work, error) {
			im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
			return &Work{Image: im, Bridge: mcpbridge.New(mcpbridge.Options{
				Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID})}, nil
		}
	}
	h := New(o)
	t.Cleanup(h.Close)
	return h
}

// Names are of a principal; ids of connections lead to one session only.
func TestWhose(t *testing.T) {
	t.Parallel()
	h := testHub(t, Options{})
	get := func(principal, name string) *Session {
		t.Helper()
		s, err := h.Named(t.Context(), principal, name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	a := get("anna", "x")
	if get("anna", "x") != a || get("bert", "x") == a || get("anna", "X") == a {
		t.Error("names are mixed up")
	}
	id := a.newID()
	for _, c := range []struct {
		principal, name, id string
		found               bool
	}{
		{"anna", "x", id, true}, {"bert", "x", id, false}, {"anna", "", id, false}, {"anna", "y", id, false}, {"", "x", id, false}, {"anna", "x", "", false},
	} {
		if got := h.Connected(c.principal, c.name, c.id); (got == a) != c.found || !c.found && got != nil {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for name, want := range map[string]bool{"a": true, "A.b_c-9": true, "": false, ".": false, "..": false, "-a": false, "a/b": false, "a\x00": false, "~1": false, "ä": false, strings.Repeat("x", 65): false} {
		if IsName(name) != want {
			t.Errorf("IsName(%q) is %v", name, !want)
		}
	}
	if h.End("bert", "nothing") || h.End("carl", "x") || !h.End("anna", "x") || h.End("anna", "x") {
		t.Error("End ends another one's, or not the right one")
	}
}

// Many ask for the same sessions and for new ones at once: each is made once, and the limits
// hold.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	const limit, each = 20, 8
	h := testHub(t, Options{Limits: Limits{Sessions: limit, PerPrincipal: each}})
	var all sync.WaitGroup
	var mu sync.Mutex
	made, refused := map[*Session]bool{}, 0
	for i := range 200 {
		all.Go(func() {
			s, err := h.Named(t.Context(), fmt.Sprint("p", i%5), fmt.Sprint("s", i/5%10))
			mu.Lock()
			defer mu.Unlock()
			var full *LimitError
			switch {
			case err == nil:
				made[s] = true
			case errors.As(err, &full):
				refused++
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	owned := map[string]int{}
	for _, i := range h.List() {
		owned[i.Principal]++
	}
	for who, n := range owned {
		if n > each {
			t.Errorf("%s has %d", who, n)
		}
	}
	if len(made) != limit || len(h.List()) != limit || refused == 0 {
		t.Errorf("%d are made, %d are there, %d were refused", len(made), len(h.List()), refused)
	}
}

// A client that has begun a session and never used it makes room when there is none; one that
// has used its session does not.
func TestUnusedMakesRoom(t *testing.T) {
	t.Parallel()
	h := testHub(t, Options{Limits: Limits{PerPrincipal: 2}})
	first, err := h.Nameless("anna")
	if err != nil {
		t.Fatal(err)
	}
	second, err := h.Nameless("anna")
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	var full *LimitError
	if _, err := h.Named(t.Context(), "anna", "x"); !errors.As(err, &full) || full.After != retryAtMost {
		t.Errorf("at once: %v", err)
	}
	h.mu.Lock()
	for _, s := range []*Session{first, second} {
		s.used = s.used.Add(-2 * unusedTime)
	}
	h.mu.Unlock()
	if _, err := h.Named(t.Context(), "anna", "x"); err != nil {
		t.Errorf("later: %v", err)
	}
	if _, err := h.Named(t.Context(), "anna", "y"); !errors.As(err, &full) {
		t.Errorf("beside one that was used: %v", err)
	}
	if !first.ended || second.ended {
		t.Errorf("ended: %v, %v", first.ended, second.ended)
	}
}

// What cannot be made leaves nothing, and is tried anew.
func TestNotMade(t *testing.T) {
	t.Parallel()
	tries := 0
	h := testHub(t, Options{Limits: Limits{Sessions: 1}, Make: func(ID, func() string) (*Work, error) {
		tries++
		return nil, errors.New("no space left on device")
	}})
	for range 3 {
		if _, err := h.Named(t.Context(), "anna", "x"); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%v", err)
		}
	}
	if tries != 3 || len(h.List()) != 0 {
		t.Errorf("%d tries, %v", tries, h.List())
	}
}

// An image that no request has started is counted, and put away like the others.
func TestNoticed(t *testing.T) {
	t.Parallel()
	h := testHub(t, Options{Hibernate: 300 * time.Millisecond})
	s, err := h.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Work().Image.Session("default").Evaluate(context.Background(), lisp.Request{Code: "1", Timeout: time.Minute})
	if err != nil || res.Failure != nil {
		t.Fatal(res, err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		c, awake := h.Counts()
		if c.Hibernated == 1 && awake == 0 && !s.Work().Image.Runs() {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("it is never put away: %+v, %d awake", c, awake)
		}
	}
}

// A closed hub makes and wakes nothing.
func TestClosed(t *testing.T) {
	t.Parallel()
	h := testHub(t, Options{})
	s, err := h.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	if _, err := h.Named(t.Context(), "anna", "x"); !errors.Is(err, ErrClosed) {
		t.Errorf("Named: %v", err)
	}
	if _, err := h.Nameless("anna"); !errors.Is(err, ErrClosed) {
		t.Errorf("Nameless: %v", err)
	}
	if err := s.Wake(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("Wake: %v", err)
	}
	h.Close() // again
}

// Who waits for a session that is being ended goes with its request. Whoever waits on gets the
// next one of that name, which is made once, and after the one before has ended.
func TestNamedWaits(t *testing.T) {
	t.Parallel()
	ending, end := make(chan struct{}), make(chan struct{})
	var living atomic.Int32
	h := testHub(t, Options{Make: func(ID, func() string) (*Work, error) {
		if n := living.Add(1); n != 1 {
			t.Errorf("%d of that name at once", n)
		}
		im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
		return &Work{Image: im, Bridge: mcpbridge.New(mcpbridge.Options{Open: func(name string) tools.Session { return im.Session(name) }}),
			Ending: sync.OnceFunc(func() { ending <- struct{}{}; <-end }), Ended: func() { living.Add(-1) }}, nil
	}})
	first, err := h.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	go h.End("anna", "x")
	<-ending
	gone := errors.New("the client has gone")
	var all sync.WaitGroup
	got := make(chan *Session, 10)
	for i := range 20 {
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		if i%2 == 0 {
			time.AfterFunc(50*time.Millisecond, func() { leave(gone) })
		}
		all.Go(func() {
			switch s, err := h.Named(ctx, "anna", "x"); {
			case i%2 == 0 && (!errors.Is(err, gone) || s != nil):
				t.Errorf("who has gone gets %v, %v", s, err)
			case i%2 == 1 && err != nil:
				t.Error(err)
			case i%2 == 1:
				got <- s
			}
		})
	}
	time.Sleep(200 * time.Millisecond) // those that go have gone
	if len(got) > 0 {
		t.Error("a session was got while the one before was ending")
	}
	go func() {
		close(end)
		<-ending // of the end of the test
	}()
	all.Wait()
	next := <-got
	for range 9 {
		if s := <-got; s != next || s == first {
			t.Error("there are two of that name")
		}
	}
}
