package hub

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"swank-mcp/mcpbridge"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
)

// image has no process. The test says what the image does, and the image notes what the hub does
// with it. What is not defined here, a *lisp.Image does that is never started.
type image struct {
	*lisp.Image

	mu      sync.Mutex
	runs    bool
	inUse   bool
	spins   bool // it uses a processor all the time
	uses    lisp.Uses
	usedAt  time.Time // as of which uses is
	stopped []string  // why, for each StopFor
	givenUp []string  // why, for each GiveUp
	closed  bool
	ends    time.Time     // of the calls that run
	calls   chan struct{} // closed when these have ended; nil: none run
	evicted []string      // for whom, for each Evict that ended the image
	owner   lisp.Owner
}

func newImage() *image { return &image{Image: lisp.New(lisp.Config{NoCheckpoints: true})} }

// start has the image run in a process of that number, which has used nothing so far.
func (i *image) start(pid int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.runs, i.spins = true, false
	i.uses = lisp.Uses{PID: pid, Beside: i.uses.Beside, Disk: []string{filepath.Join("nowhere", string(rune('a'+pid)))}}
	i.usedAt = time.Now()
}

// spin has code run from now on that uses a processor all the time, or ends it.
func (i *image) spin(spins bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.useLocked()
	i.spins = spins
}

// use adds to what the image has used of the processor, and what images have beside it.
func (i *image) use(cpu, beside time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.uses.CPU += cpu
	i.uses.Beside += beside
}

func (i *image) useLocked() {
	if i.spins {
		i.uses.CPU += time.Since(i.usedAt)
	}
	i.usedAt = time.Now()
}

// busy says whether something would be lost if the image ended.
func (i *image) busy(is bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.inUse = is
}

func (i *image) Runs() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.runs
}

// ended reports whether the image was closed, which is once and for all.
func (i *image) ended() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.closed
}

func (i *image) InUse() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.inUse
}

func (i *image) Uses(bool) lisp.Uses {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.useLocked()
	if !i.runs {
		return lisp.Uses{Beside: i.uses.Beside}
	}
	return i.uses
}

func (i *image) StopFor(why string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = append(i.stopped, why)
	return 1
}

func (i *image) GiveUp(why string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.runs {
		return false
	}
	i.givenUp, i.runs = append(i.givenUp, why), false
	return true
}

func (i *image) Hibernate(context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.inUse {
		return &lisp.ObstacleError{Why: "something is evaluated"}
	}
	i.runs = false
	return nil
}

func (i *image) Own(o lisp.Owner) { i.owner = o }

// call has calls run until the function returned is called, at most until then.
func (i *image) call(ends time.Time) (end func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	calls := make(chan struct{})
	i.ends, i.calls = ends, calls
	return func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.ends, i.calls = time.Time{}, nil
		close(calls)
	}
}

func (i *image) CallsEnd() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ends
}

func (i *image) Evict(ctx context.Context, whose string, gone func()) error {
	i.mu.Lock()
	calls := i.calls
	i.mu.Unlock()
	if calls != nil {
		select {
		case <-calls:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	i.mu.Lock()
	i.runs, i.inUse, i.evicted = false, false, append(i.evicted, whose)
	i.mu.Unlock()
	gone()
	return nil
}

// evictedFor returns for whom the image was ended so far.
func (i *image) evictedFor() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.evicted)
}

func (i *image) Close(ctx context.Context) error {
	i.mu.Lock()
	i.runs, i.closed = false, true
	i.mu.Unlock()
	return i.Image.Close(ctx)
}

// noted returns why the image was stopped and given up so far.
func (i *image) noted() (stopped, givenUp []string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.stopped), slices.Clone(i.givenUp)
}

// bridge has a server without tools, so that making one costs little.
type bridge struct{ server *mcp.Server }

func (b bridge) Server() *mcp.Server                      { return b.server }
func (bridge) Within(ctx context.Context) context.Context { return ctx }
func (bridge) Tell(string)                                {}
func (bridge) Close()                                     {}
func (bridge) Leave()                                     {}

// fakeWork makes what a session works with, without a process, kept in left.
func fakeWork(newID func() string, left *kept.File) *Work {
	server := mcp.NewServer(&mcp.Implementation{Name: "fake"}, &mcp.ServerOptions{GetSessionID: newID})
	return &Work{Image: newImage(), Session: mcpbridge.DefaultSession, Kept: left, Bridge: bridge{server}}
}

// fake is the image of a session that [fakeWork] has made.
func (s *Session) fake() *image { return s.Work().Image.(*image) }

// testHub makes sessions of fakes, unless o says what else, and is closed at the end of the test.
func testHub(t *testing.T, o Options) *Hub {
	t.Helper()
	if o.Make == nil {
		o.Make = func(_ ID, newID func() string) (*Work, error) { return fakeWork(newID, nil), nil }
	}
	h := New(o)
	t.Cleanup(h.Close)
	return h
}

// named returns anna's session of that name.
func named(t *testing.T, h *Hub, name string) *Session {
	t.Helper()
	s, err := h.Named(t.Context(), "anna", name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// of returns the principal's session of that name.
func of(t *testing.T, h *Hub, principal, name string) *Session {
	t.Helper()
	s, err := h.Named(t.Context(), principal, name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wake gives the principal's session of that name an image, which runs.
func wake(t *testing.T, h *Hub, principal, name string) *Session {
	t.Helper()
	s := of(t, h, principal, name)
	defer s.Enter()()
	if err := s.Wake(t.Context()); err != nil {
		t.Fatalf("%s/%s: %v", principal, name, err)
	}
	s.fake().start(1)
	return s
}

// define keeps that the session has defined the function f, which returns that.
func define(s *Session, value string) {
	j := &journal.Journal{Package: "COMMON-LISP-USER"}
	j.Add(&journal.Entry{Keys: []string{"(:FUNCTION . F)"}, Text: "(defun f () " + value + ")", Package: j.Package})
	s.Work().Kept.Keep(j, true, true)
}

// pass lets time pass, and all that it brings about happen.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
