package hub

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"swank-mcp/mcpbridge"
	"swank-mcp/mcpbridge/tools"
	"swank-mcp/swank/lisp"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// A session is left to the disk when nobody uses it, and not under the hands of one that has
// just entered it. It takes both processors, so it runs alone.
func TestUsedIsNotLeftToTheDisk(t *testing.T) {
	dir := t.TempDir()
	h := testHub(t, Options{Make: func(id ID, newID func() string) (*Work, error) {
		im := lisp.New(lisp.Config{Launch: launch.Config{NoUserInit: true, NoCore: true}, NoCheckpoints: true})
		left := kept.Open(filepath.Join(dir, id.Name, "session.lisp"))
		return &Work{Image: im, Kept: left, Bridge: mcpbridge.New(mcpbridge.Options{
			Open: func(name string) tools.Session { return im.Session(name) }, SessionID: newID, Kept: left})}, nil
	}, Hibernate: time.Millisecond, Forget: time.Nanosecond})
	over := make(chan struct{})
	var others, users sync.WaitGroup
	for range 4 { // others want the hub all the time, so that whoever asks it twice is not answered twice in a row
		others.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					h.List()
				}
			}
		})
	}
	end := time.Now().Add(2 * time.Second)
	for i := range 4 {
		users.Go(func() {
			for time.Now().Before(end) && !t.Failed() {
				use(t, h, fmt.Sprint("x", i))
				time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond)
			}
		})
	}
	users.Wait()
	close(over)
	others.Wait()
	if c, _ := h.Counts(); c.Ended == 0 {
		t.Error("it was never left to the disk, so nothing was tried")
	}
}

// use enters a session for a moment, in which it is not to end.
func use(t *testing.T, h *Hub, name string) {
	s, err := h.Named(t.Context(), "anna", name)
	if err != nil {
		t.Error(err)
		return
	}
	defer s.Enter()()
	if s.Ended() {
		return // whoever enters it asks the hub again
	}
	time.Sleep(time.Millisecond)
	if s.Ended() {
		t.Error("it was ended while it is used")
	}
}
