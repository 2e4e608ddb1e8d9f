package hub

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/swank/lisp/kept"
)

// nameless begins a session of the principal's without a name, in which something was evaluated,
// and the id of a connection of it.
func nameless(t *testing.T, h *Hub, principal string) (*Session, string) {
	t.Helper()
	s, err := h.Nameless(principal)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Enter()()
	if err := s.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.fake().start(1)
	return s, connect(t, s)
}

// roomFor wants there to be room for another session of the principal's.
func roomFor(t *testing.T, h *Hub, principal string) *Session {
	t.Helper()
	s, err := h.Nameless(principal)
	if err != nil {
		t.Errorf("there is no room for %s: %v", principal, err)
	}
	return s
}

// Sessions whose clients have gone without a word make room, the oldest first; not one in which
// something runs, nor one that is used.
func TestLeftMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{PerPrincipal: 4}})
		job, _ := nameless(t, h, "anna")
		job.fake().busy(true)
		used, _ := nameless(t, h, "anna")
		defer used.Enter()()
		var left []*Session
		for range 2 {
			pass(time.Second)
			s, _ := nameless(t, h, "anna")
			left = append(left, s)
		}
		pass(2 * time.Minute)
		for i, s := range left {
			if s.Ended() {
				t.Errorf("%d has made room for nobody", i)
			}
			next := roomFor(t, h, "anna")
			if !s.Ended() {
				t.Errorf("%d has not made room", i)
			}
			if next != nil {
				defer next.Enter()()
			}
		}
		var full *LimitError
		if _, err := h.Nameless("anna"); !errors.As(err, &full) || full.After != 0 || job.Ended() || used.Ended() {
			t.Errorf("beside a job and calls: %v; ended: %v, %v", err, job.Ended(), used.Ended())
		}
	})
}

// Where all sessions there may be are there, one of the principal's goes that has most.
func TestMostMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{Sessions: 4}})
		old, _ := nameless(t, h, "bert")
		var anna []*Session
		for range 3 {
			pass(time.Second)
			s, _ := nameless(t, h, "anna")
			anna = append(anna, s)
		}
		pass(2 * time.Minute)
		roomFor(t, h, "carl")
		if old.Ended() || !anna[0].Ended() || anna[1].Ended() {
			t.Errorf("ended: bert's %v, anna's %v, %v", old.Ended(), anna[0].Ended(), anna[1].Ended())
		}
	})
}

// A named session of which the disk has all there is makes room before one without a name, whose
// definitions would go with it; not one that could not be kept.
func TestNamedMakesRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		h := testHub(t, Options{Limits: Limits{Sessions: 3}, Make: func(id ID, newID func() string) (*Work, error) {
			if id.Name == "" {
				return fakeWork(newID, nil), nil
			}
			return fakeWork(newID, kept.Open(filepath.Join(dir, id.Name, "session.lisp"))), nil
		}})
		if err := os.WriteFile(filepath.Join(dir, "unkept"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		unkept := named(t, h, "unkept")
		define(unkept, "1")
		other, _ := nameless(t, h, "anna")
		pass(time.Second)
		s := named(t, h, "kept")
		define(s, "1")
		pass(2 * time.Minute)
		if unkept.Work().Kept.Problem() == "" {
			t.Fatal("it was kept")
		}
		roomFor(t, h, "anna")
		if unkept.Ended() || other.Ended() || !s.Ended() {
			t.Errorf("ended: unkept %v, without a name %v, kept %v", unkept.Ended(), other.Ended(), s.Ended())
		}
	})
}

// A session that a client has a stream of makes no room, however long nothing comes on it; when
// the stream is closed it is known that the client has gone. Whoever comes back is told.
func TestStreamsKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := testHub(t, Options{Limits: Limits{PerPrincipal: 1}})
		s, id := nameless(t, h, "anna")
		leave := s.Attend()
		pass(time.Hour)
		var full *LimitError
		if _, err := h.Nameless("anna"); !errors.As(err, &full) || full.After != 0 {
			t.Errorf("beside a stream: %v", err)
		}
		leave()
		if _, err := h.Nameless("anna"); !errors.As(err, &full) || full.After != restTime {
			t.Errorf("when it has just been closed: %v", err)
		}
		pass(restTime + time.Millisecond)
		roomFor(t, h, "anna")
		if !s.Ended() || h.Connected("anna", "", id) != nil {
			t.Error("it has not ended")
		}
		if why := h.Gone("anna", "", id); why != "it made room for another one after nobody had used it for 2 seconds, and what it had defined went with it" {
			t.Errorf("its client is told %q", why)
		}
		for _, other := range []string{h.Gone("bert", "", id), h.Gone("anna", "x", id), h.Gone("anna", "", "x")} {
			if other != "" {
				t.Errorf("another one is told %q", other)
			}
		}
	})
}
