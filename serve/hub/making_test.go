package hub

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/swank/lisp/kept"
)

// stuckHub makes sessions of fakes. The making of one of the name stuck ends when the function
// returned is called; ended counts the sessions that were ended as a whole.
func stuckHub(t *testing.T, o Options) (h *Hub, goOn func(), ended *atomic.Int32) {
	t.Helper()
	block := make(chan struct{})
	dir := t.TempDir()
	ended = new(atomic.Int32)
	o.Make = func(id ID, newID func() string) (*Work, error) {
		if id.Name == "stuck" {
			<-block
		}
		w := fakeWork(newID, kept.Open(filepath.Join(dir, id.Name+".lisp")))
		w.Ended = func() { ended.Add(1) }
		return w, nil
	}
	return New(o), func() { close(block) }, ended
}

// A session whose making stands still, as one that reads a disk that does, holds up nothing but
// itself: others are swept, what is known of it is told, and who wants it waits as long as it
// likes. The end of the hub waits for a while, and ends what comes later.
func TestMakingStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, goOn, ended := stuckHub(t, Options{Hibernate: time.Minute, Forget: time.Hour, Limits: Limits{CPU: time.Hour}})
		wanted := make(chan error, 1)
		go func() {
			_, err := h.Named(context.Background(), "anna", "stuck")
			wanted <- err
		}()
		synctest.Wait()
		named(t, h, "x")
		pass(time.Hour + sweepTime)
		if list := h.List(); len(list) != 1 || list[0].Name != "stuck" {
			t.Fatalf("nothing is swept: %+v", list)
		}
		if d := h.Detail(t.Context(), "anna", "stuck"); d == nil || d.Name != "stuck" || d.PID != 0 {
			t.Errorf("told: %+v", d)
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := h.Named(impatient, "anna", "stuck"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who waits no longer: %v", err)
		}
		select {
		case err := <-wanted:
			t.Errorf("who waits on: %v", err)
		default:
		}
		began := time.Now()
		h.Close()
		if took := time.Since(began); took != closeLimit {
			t.Errorf("the end of the hub waits for %v", took)
		}
		if err := <-wanted; !errors.Is(err, ErrClosed) {
			t.Errorf("who waits at the end: %v", err)
		}
		before := ended.Load()
		goOn()
		synctest.Wait()
		if n := ended.Load(); n != before+1 {
			t.Fatalf("%d sessions are ended, before that %d", n, before)
		}
	})
}

// What was ended while it was made is ended when it is there, and can be made anew.
func TestEndedWhileMade(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, goOn, ended := stuckHub(t, Options{})
		defer h.Close()
		go func() { _, _ = h.Named(context.Background(), "anna", "stuck") }()
		synctest.Wait()
		over := make(chan bool, 1)
		go func() { over <- h.End("anna", "stuck") }()
		pass(time.Hour)
		if list := h.List(); len(list) > 0 || len(over) > 0 {
			t.Fatalf("it is still there, or has ended before it was made: %v", list)
		}
		goOn()
		if !<-over || ended.Load() != 1 {
			t.Errorf("%d are ended", ended.Load())
		}
		named(t, h, "stuck")
	})
}

// A server asks for no lease of a session for which it has no room.
func TestNoRoomOwnsNothing(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	h := testHub(t, Options{Limits: Limits{PerPrincipal: 1}, Own: func(ID) (Lease, error) {
		asked.Add(1)
		return oneLease{new(atomic.Bool)}, nil
	}})
	if _, err := h.Named(t.Context(), "anna", "a"); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := h.Named(t.Context(), "anna", "b"); !errors.As(err, new(*LimitError)) {
			t.Errorf("%v", err)
		}
	}
	if n := asked.Load(); n != 1 {
		t.Errorf("%d leases were asked for", n)
	}
}
