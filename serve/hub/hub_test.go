package hub

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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
	synctest.Test(t, func(t *testing.T) {
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
		for waited := range 2 {
			if _, err := h.Named(t.Context(), "anna", "x"); !errors.As(err, &full) || full.After > unusedTime || waited == 0 && full.After != unusedTime {
				t.Errorf("early: %v", err)
			}
			pass(unusedTime)
		}
		if _, err := h.Named(t.Context(), "anna", "x"); err != nil {
			t.Errorf("later: %v", err)
		}
		if _, err := h.Named(t.Context(), "anna", "y"); !errors.As(err, &full) {
			t.Errorf("beside one that was used: %v", err)
		}
		if !first.Ended() || second.Ended() {
			t.Errorf("ended: %v, %v", first.Ended(), second.Ended())
		}
	})
}

// A session without a name ends when its client has had time enough for a connection and has
// none; a named one stays.
func TestNoConnectionComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{})
		alone, err := h.Nameless("anna")
		if err != nil {
			t.Fatal(err)
		}
		other := named(t, h, "x")
		id := other.newID()
		pass(youth)
		if alone.Ended() || h.Connected("anna", "x", id) != other {
			t.Error("it has ended early")
		}
		pass(sweepTime)
		if !alone.Ended() || other.Ended() || h.Connected("anna", "x", id) != nil {
			t.Errorf("ended: %v, %v; the connection that did not come: %v", alone.Ended(), other.Ended(), h.Connected("anna", "x", id))
		}
	})
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
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Hibernate: time.Minute})
		s := named(t, h, "x")
		pass(time.Hour)
		if c, awake := h.Counts(); c.Hibernated != 0 || awake != 0 {
			t.Fatalf("without an image: %+v, %d awake", c, awake)
		}
		s.fake().start(1)
		pass(sweepTime)
		if c, awake := h.Counts(); c.Hibernated != 0 || awake != 1 {
			t.Fatalf("when it runs: %+v, %d awake", c, awake)
		}
		pass(time.Minute)
		if c, awake := h.Counts(); c.Hibernated != 1 || awake != 0 || s.fake().Runs() {
			t.Fatalf("it is not put away: %+v, %d awake", c, awake)
		}
	})
}

// An image that nobody uses is put away in its time; one in which something runs, or whose
// session a request has entered, is not, and its time begins anew when that is over.
func TestHibernation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const rest = time.Minute
		h := testHub(t, Options{Hibernate: rest})
		var all []*Session
		for pid, name := range []string{"idle", "busy", "entered"} {
			s := named(t, h, name)
			if err := s.Wake(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.fake().start(pid + 1)
			all = append(all, s)
		}
		run := func(want ...bool) {
			t.Helper()
			for i, s := range all {
				if s.fake().Runs() != want[i] {
					t.Errorf("the image of %s runs: %v", s.Name, !want[i])
				}
			}
		}
		all[1].fake().busy(true)
		leave := all[2].Enter()
		pass(rest - time.Second)
		run(true, true, true)
		pass(sweepTime)
		run(false, true, true)
		pass(10 * rest)
		run(false, true, true)
		all[1].fake().busy(false)
		leave()
		pass(rest - sweepTime)
		run(false, true, true)
		pass(2 * sweepTime)
		run(false, false, false)
		if c, awake := h.Counts(); c.Hibernated != 3 || c.Woken != 3 || awake != 0 {
			t.Errorf("%+v, %d awake", c, awake)
		}
		if err := all[0].Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c, awake := h.Counts(); c.Woken != 4 || awake != 1 {
			t.Errorf("woken: %+v, %d awake", c, awake)
		}
	})
}

// Where no more images may run, the one that nobody has used for the longest time makes room;
// whoever finds none is told when there may be one.
func TestImagesMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{Images: 2}})
		a, b, c := named(t, h, "a"), named(t, h, "b"), named(t, h, "c")
		for pid, s := range []*Session{a, b} {
			leave := s.Enter()
			if err := s.Wake(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.fake().start(pid + 1)
			leave()
			time.Sleep(restTime / 4)
		}
		refused := func(after time.Duration) {
			t.Helper()
			var full *LimitError
			if err := c.Wake(t.Context()); !errors.As(err, &full) || full.Own || full.Most != 2 || full.After != after {
				t.Fatalf("woken without room: %v", err)
			}
		}
		refused(restTime / 2) // of a
		leave := a.Enter()
		time.Sleep(restTime)
		b.fake().busy(true)
		refused(0) // a is used, b can be used up to any time
		b.fake().busy(false)
		time.Sleep(restTime)
		leave()
		if err := c.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		if !a.fake().Runs() || b.fake().Runs() {
			t.Errorf("a runs: %v, b runs: %v", a.fake().Runs(), b.fake().Runs())
		}
		if counts, awake := h.Counts(); awake != 2 || counts.Refused != 2 || counts.Hibernated != 1 {
			t.Errorf("%+v, %d awake", counts, awake)
		}
	})
}

// The end of a session waits for the answer to a call, and for nothing after that.
func TestEndWaitsForAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{})
		s := named(t, h, "a")
		leave := s.Enter()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			h.end(s)
		}()
		synctest.Wait()
		if s.fake().ended() {
			t.Error("the image ended before the call was answered")
		}
		leave()
		synctest.Wait()
		select {
		case <-ended:
		default:
			t.Error("the call was answered, and the session has not ended")
		}
	})
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
	synctest.Test(t, func(t *testing.T) {
		ending, end := make(chan struct{}), make(chan struct{})
		var living atomic.Int32
		h := testHub(t, Options{Make: func(_ ID, newID func() string) (*Work, error) {
			if n := living.Add(1); n != 1 {
				t.Errorf("%d of that name at once", n)
			}
			w := fakeWork(newID, nil)
			w.Ending = sync.OnceFunc(func() { close(ending); <-end })
			w.Ended = func() { living.Add(-1) }
			ending = make(chan struct{})
			return w, nil
		}})
		first := named(t, h, "x")
		began := ending
		go h.End("anna", "x")
		<-began
		gone := errors.New("the client has gone")
		ctx, leave := context.WithCancelCause(t.Context())
		defer leave(nil)
		var all, going sync.WaitGroup
		got := make(chan *Session, 10)
		for range 10 {
			going.Go(func() {
				if s, err := h.Named(ctx, "anna", "x"); !errors.Is(err, gone) || s != nil {
					t.Errorf("who has gone gets %v, %v", s, err)
				}
			})
			all.Go(func() {
				s, err := h.Named(t.Context(), "anna", "x")
				if err != nil {
					t.Error(err)
				}
				got <- s
			})
		}
		pass(time.Hour)
		leave(gone)
		going.Wait()
		synctest.Wait()
		if len(got) > 0 {
			t.Error("a session was got while the one before was ending")
		}
		close(end)
		all.Wait()
		next := <-got
		for range 9 {
			if s := <-got; s != next || s == first {
				t.Error("there are two of that name")
			}
		}
	})
}
