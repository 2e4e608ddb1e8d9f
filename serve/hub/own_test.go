package hub

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/serve/lease"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// ownTerm is that of the leases. A server that stands still for two thirds of it loses its
// sessions.
const ownTerm = 4 * time.Second

// replica is a hub on a volume that others have, too, with real images.
func replica(t *testing.T, volume string) (*Hub, *lease.Server) {
	t.Helper()
	server, err := lease.Open(filepath.Join(volume, "servers"), ownTerm, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	taken := map[ID]*lease.Lease{}
	dir := func(id ID) string { return filepath.Join(volume, id.Principal, id.Name) }
	return testHub(t, Options{
		Own: func(id ID) (Lease, error) {
			if err := os.MkdirAll(dir(id), 0o700); err != nil {
				return nil, err
			}
			l, err := server.Take(dir(id))
			taken[id] = l
			return l, err
		},
		Make: func(id ID, newID func() string) (*Work, error) {
			left, err := kept.OpenShared(dir(id), taken[id].Number(), taken[id].Lost)
			if err != nil {
				return nil, err
			}
			im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
			im.Session(mcpbridge.DefaultSession).KeepIn(left)
			return &Work{Image: im, Kept: left, Bridge: mcpbridge.New(mcpbridge.Options{
				Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID, Kept: left})}, nil
		},
	}), server
}

// evaluate does what a request does, and returns the value.
func evaluate(t *testing.T, h *Hub, name, code string) string {
	t.Helper()
	s, err := h.Named(t.Context(), "anna", name)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Enter()()
	if err := s.Wake(t.Context()); err != nil {
		t.Fatal(err)
	}
	res, err := s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: code, Timeout: time.Minute})
	if err != nil || res.Failure != nil {
		t.Fatal(code, err, res)
	}
	return res.Values[0].Head
}

// Two hubs have the sessions of one directory. A session that the other one wants is given to
// it when nobody uses it, with what it has defined; the image here ends.
func TestHandedOver(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	a, _ := replica(t, volume)
	b, _ := replica(t, volume)
	evaluate(t, a, "x", "(defun f () 1)")
	s, err := a.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	leave := s.Enter()
	got := make(chan string, 1)
	go func() { got <- evaluate(t, b, "x", "(f)") }()
	select {
	case <-got:
		t.Error("given away while it is used")
	case <-time.After(ownTerm):
	}
	evaluate(t, a, "x", "(defun f () 2)")
	leave()
	if v := <-got; v != "2" {
		t.Errorf("the other one has %s", v)
	}
	_, err = s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: "1", Timeout: time.Minute})
	if list := a.List(); len(list) != 0 || !errors.Is(err, lisp.ErrClosed) {
		t.Errorf("still there: %v, %v", list, err)
	}
	if v := evaluate(t, a, "x", "(f)"); v != "2" { // and back
		t.Errorf("the first one has %s", v)
	}
}

// What a hub has that is not heard of any more goes to the other one, and the first one
// writes nothing more and says of no call that it was done.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	volume := t.TempDir()
	a, dies := replica(t, volume)
	b, _ := replica(t, volume)
	evaluate(t, b, "y", "1") // it has an image, and has seen the other one
	evaluate(t, a, "x", "(defun f () 1)")
	s, err := a.Named(t.Context(), "anna", "x")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Enter()()
	dies.Close() // says nothing any more, while its hub goes on
	began := time.Now()
	if v := evaluate(t, b, "x", "(f)"); v != "1" {
		t.Errorf("the other one has %s", v)
	}
	if took := time.Since(began); took > ownTerm+time.Minute { // an image without a core starts meanwhile
		t.Errorf("after %v", took)
	}
	if s.lost() == nil {
		t.Error("the first one still has it")
	}
	k := s.Work().Kept
	before, err := os.ReadFile(filepath.Join(volume, "anna", "x", "session.1.lisp"))
	if err == nil {
		res, err := s.Work().Image.Session(mcpbridge.DefaultSession).Evaluate(t.Context(), lisp.Request{Code: "(defun f () 3)", Timeout: time.Minute})
		if err == nil && res.Failure == nil && k.Problem() == "" {
			t.Error("it has written what it does not own")
		}
		after, err := os.ReadFile(filepath.Join(volume, "anna", "x", "session.1.lisp"))
		if err == nil && string(after) != string(before) {
			t.Errorf("written: %s", after)
		}
	}
	for end := time.Now().Add(time.Minute); len(a.List()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the first one does not end the session")
		}
	}
	if _, err := a.Named(t.Context(), "anna", "x"); !errors.As(err, new(lease.CutError)) {
		t.Errorf("it takes it again: %v", err)
	}
	if v := evaluate(t, b, "x", "(f)"); v != "1" {
		t.Errorf("the other one has %s then", v)
	}
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
	var asked atomic.Int32
	held := errors.New("another server has it")
	asks, answer := make(chan bool, 100), make(chan bool)
	h := testHub(t, Options{Own: func(ID) (Lease, error) {
		asked.Add(1)
		asks <- true
		<-answer
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
	<-asks
	time.Sleep(100 * time.Millisecond) // the others wait
	close(answer)
	all.Wait()
	if n := asked.Load(); n > 2 { // one may have come late on a busy machine
		t.Errorf("it was asked %d times", n)
	}
}
