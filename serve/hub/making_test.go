package hub

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// stuckHub makes sessions whose images are never started. The making of one of the name stuck
// ends when the function returned is called; ended counts the sessions that were ended as a
// whole.
func stuckHub(t *testing.T, o Options) (h *Hub, begun <-chan struct{}, goOn func(), ended *atomic.Int32) {
	t.Helper()
	begins, block := make(chan struct{}), make(chan struct{})
	dir := t.TempDir()
	ended = new(atomic.Int32)
	o.Make = func(id ID, newID func() string) (*Work, error) {
		if id.Name == "stuck" {
			close(begins)
			<-block
		}
		im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
		return &Work{Image: im, Kept: kept.Open(filepath.Join(dir, id.Name+".lisp")), Ended: func() { ended.Add(1) }, Bridge: mcpbridge.New(mcpbridge.Options{
			Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID})}, nil
	}
	return New(o), begins, func() { close(block) }, ended
}

// A session whose making stands still, as one that reads a disk that does, holds up nothing but
// itself: others are swept, what is known of it is told, and who wants it waits as long as it
// likes. The end of the hub waits for a while, and ends what comes later.
func TestMakingStandsStill(t *testing.T) {
	t.Parallel()
	h, begun, goOn, ended := stuckHub(t, Options{Hibernate: 40 * time.Millisecond, Forget: 100 * time.Millisecond, Limits: Limits{CPU: time.Hour}})
	wanted := make(chan error, 1)
	go func() {
		_, err := h.Named(context.Background(), "anna", "stuck")
		wanted <- err
	}()
	<-begun
	if _, err := h.Named(t.Context(), "anna", "x"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); len(h.List()) > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("nothing is swept: %+v", h.List())
		}
	}
	told := make(chan *Detail, 1)
	go func() { told <- h.Detail(context.Background(), "anna", "stuck") }()
	select {
	case d := <-told:
		if d == nil || d.Name != "stuck" || d.PID != 0 {
			t.Errorf("told: %+v", d)
		}
	case <-time.After(time.Minute):
		t.Fatal("nothing is told")
	}
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := h.Named(impatient, "anna", "stuck"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("who waits no longer: %v", err)
	}
	time.Sleep(meterTime + 200*time.Millisecond) // the meter has looked at it
	closed := make(chan struct{})
	go func() {
		h.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit + time.Minute):
		t.Fatal("the hub does not close")
	}
	if err := <-wanted; !errors.Is(err, ErrClosed) {
		t.Errorf("who waits at the end: %v", err)
	}
	before := ended.Load()
	goOn()
	for end := time.Now().Add(time.Minute); ended.Load() != before+1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d sessions are ended, before that %d", ended.Load(), before)
		}
	}
}

// What was ended while it was made is ended when it is there, and can be made anew.
func TestEndedWhileMade(t *testing.T) {
	t.Parallel()
	h, begun, goOn, ended := stuckHub(t, Options{})
	defer h.Close()
	go func() { _, _ = h.Named(context.Background(), "anna", "stuck") }()
	<-begun
	over := make(chan bool, 1)
	go func() { over <- h.End("anna", "stuck") }()
	for end := time.Now().Add(time.Minute); len(h.List()) > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it is still there")
		}
	}
	goOn()
	if !<-over || ended.Load() != 1 {
		t.Errorf("%d are ended", ended.Load())
	}
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
