package hub

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/serve/lease"
	"swank-mcp/swank/lisp/kept"
)

// ownTerm is that of the leases. A server that stands still for two thirds of it loses its
// sessions.
const ownTerm = 10 * time.Second

// replica is a hub on a volume that others have, too.
func replica(t *testing.T, volume string, limits Limits, make func(newID func() string, left *kept.File) *Work) (*Hub, *lease.Server) {
	t.Helper()
	server, err := lease.Open(filepath.Join(volume, "servers"), ownTerm, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	var taken sync.Map // the lease of each session
	dir := func(id ID) string { return filepath.Join(volume, id.Principal, id.Name) }
	return testHub(t, Options{
		Limits: limits,
		Own: func(id ID) (Lease, error) {
			if err := os.MkdirAll(dir(id), 0o700); err != nil {
				return nil, err
			}
			l, err := server.Take(dir(id))
			if err != nil {
				return nil, err
			}
			taken.Store(id, l)
			return l, nil
		},
		Make: func(id ID, newID func() string) (*Work, error) {
			l, _ := taken.Load(id)
			left, err := kept.OpenShared(dir(id), l.(*lease.Lease).Number(), l.(*lease.Lease).Lost)
			if err != nil {
				return nil, err
			}
			return make(newID, left), nil
		},
	}), server
}

// left returns what the session finds of itself on the disk.
func left(t *testing.T, s *Session) string {
	t.Helper()
	text, err := s.Work().Kept.Read()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Two hubs have the sessions of one directory. A session that the other one wants is given to
// it when nobody uses it, with what it has defined; the image here ends. Whose evaluation
// nobody can reach there any more is waited for a while, and not longer.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, _ := replica(t, volume, Limits{}, fakeWork)
		b, _ := replica(t, volume, Limits{}, fakeWork)
		s := named(t, a, "x")
		define(s, "1")
		leave := s.Enter()
		got := make(chan *Session, 1)
		go func() { got <- named(t, b, "x") }()
		pass(2 * ownTerm)
		if len(got) > 0 {
			t.Error("given away while it is used")
		}
		define(s, "2")
		leave()
		began := time.Now()
		next := <-got
		if took := time.Since(began); took > time.Second {
			t.Errorf("given away after %v", took)
		}
		if text := left(t, next); !strings.Contains(text, "(defun f () 2)") {
			t.Errorf("the other one has %s", text)
		}
		if list := a.List(); len(list) != 0 || !s.fake().ended() {
			t.Errorf("still there: %v", list)
		}

		// And back, from one that is busy.
		next.back = true // an image would bring back what is on the disk
		if err := next.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		next.fake().start(1)
		next.fake().busy(true)
		began = time.Now()
		s = named(t, a, "x")
		if took := time.Since(began); took < yieldPatience || took > yieldPatience+ownTerm/4 {
			t.Errorf("a session that is busy is given up after %v", took)
		}
		if text := left(t, s); !strings.Contains(text, "(defun f () 2)") {
			t.Errorf("the first one has %s", text)
		}
	})
}

// What a hub has that is not heard of any more goes to the other one, and the first one
// writes nothing more and says of no call that it was done.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		volume := t.TempDir()
		a, dies := replica(t, volume, Limits{}, fakeWork)
		b, _ := replica(t, volume, Limits{}, fakeWork)
		pass(ownTerm) // they have seen each other
		s := named(t, a, "x")
		define(s, "1")
		leave := s.Enter()
		file := filepath.Join(volume, "anna", "x", "session.1.lisp")
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		dies.Close() // says nothing any more, while its hub goes on
		began := time.Now()
		if s.lost() == nil {
			t.Error("the first one still has it")
		}
		define(s, "3")
		if after, err := os.ReadFile(file); err != nil || string(after) != string(before) || s.Work().Kept.Problem() == "" {
			t.Errorf("it has written what it does not own: %v, %s", err, after)
		}
		done := func(context.Context, string, mcp.Request) (mcp.Result, error) { return &mcp.CallToolResult{}, nil }
		var uncertain *jsonrpc.Error
		if _, err := s.certain(done)(t.Context(), "tools/call", nil); !errors.As(err, &uncertain) || uncertain.Code != codeUncertain {
			t.Errorf("of a call it says %v", err)
		}
		next := named(t, b, "x")
		if took := time.Since(began); took < ownTerm/2 || took > ownTerm*5/4 {
			t.Errorf("taken over after %v", took)
		}
		if text := left(t, next); !strings.Contains(text, "(defun f () 1)") {
			t.Errorf("the other one has %s", text)
		}
		leave()
		pass(yieldTime)
		if list := a.List(); len(list) > 0 {
			t.Errorf("the first one does not end the session: %v", list)
		}
		if _, err := a.Named(t.Context(), "anna", "x"); !errors.As(err, new(lease.CutError)) {
			t.Errorf("it takes it again: %v", err)
		}
		if _, err := next.certain(done)(t.Context(), "tools/call", nil); err != nil {
			t.Errorf("of a call of its own the other one says %v", err)
		}
		if _, err := os.Stat(filepath.Join(volume, "anna", "x", "session.2.lisp")); err != nil {
			t.Error(err)
		}
	})
}

// oneLease is of a session that is owned by asking, once until it is released.
type oneLease struct{ owned *atomic.Bool }

func (oneLease) Lost() error           { return nil }
func (oneLease) Wanted() time.Duration { return 0 }
func (l oneLease) Release()            { l.owned.Store(false) }

// A session for which there is no room is given up before somebody else here is answered who
// waits for the same one.
func TestNoRoomForOwned(t *testing.T) {
	t.Parallel()
	var owned atomic.Bool // anna/b
	h := testHub(t, Options{Limits: Limits{Sessions: 1}, Own: func(id ID) (Lease, error) {
		if id.Name == "a" {
			return oneLease{new(atomic.Bool)}, nil
		}
		if owned.Swap(true) {
			return nil, errors.New("it is owned already")
		}
		return oneLease{&owned}, nil
	}})
	if _, err := h.Named(t.Context(), "anna", "a"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			var limit *LimitError
			if _, err := h.Named(t.Context(), "anna", "b"); !errors.As(err, &limit) {
				t.Errorf("%v", err)
			}
		})
	}
	all.Wait()
	if owned.Load() {
		t.Error("it is owned still")
	}
}

// Who waits while another server is asked for a session is told what came of that, and does not
// ask and wait as long once more.
func TestOwnedByAnother(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		held := errors.New("another server has it")
		h := testHub(t, Options{Own: func(ID) (Lease, error) {
			asked.Add(1)
			time.Sleep(time.Minute)
			return nil, held
		}})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := h.Named(t.Context(), "anna", "x"); !errors.Is(err, held) {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if n := asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
	})
}
