package hub

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"swank-mcp/swank/lisp/kept"
)

// A session is left to the disk when nobody uses it, and not under the hands of one that has
// just entered it. This looks for a race between threads, so it has no bubble of time; it takes
// both processors, so it runs alone.
func TestUsedIsNotLeftToTheDisk(t *testing.T) {
	dir := t.TempDir()
	h := testHub(t, Options{Make: func(id ID, newID func() string) (*Work, error) {
		return fakeWork(newID, kept.Open(filepath.Join(dir, id.Name, "session.lisp"))), nil
	}, Hibernate: time.Millisecond, Forget: time.Nanosecond})
	over := make(chan struct{})
	var others, users sync.WaitGroup
	for range 2 { // others want the hub all the time, so that whoever asks it twice is not answered twice in a row
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
	const visits = 100
	for i := range 4 {
		users.Go(func() {
			for range visits {
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

// A session that is put away and has no client is left to the disk in its time, and made anew
// when it is named again. One that could not be kept stays, and so does one that has a client.
func TestLeftToTheDisk(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const forget = time.Hour
		dir := t.TempDir()
		h := testHub(t, Options{Make: func(id ID, newID func() string) (*Work, error) {
			return fakeWork(newID, kept.Open(filepath.Join(dir, id.Name, "session.lisp"))), nil
		}, Hibernate: time.Minute, Forget: forget})
		idle, awake, unkept := named(t, h, "idle"), named(t, h, "awake"), named(t, h, "unkept")
		if err := awake.Wake(t.Context()); err != nil {
			t.Fatal(err)
		}
		awake.fake().start(1)
		awake.fake().busy(true)
		obstacle := filepath.Join(dir, "unkept")
		if err := os.WriteFile(obstacle, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		define(unkept, "1")
		pass(forget - sweepTime)
		if idle.Ended() {
			t.Error("it is left early")
		}
		pass(2 * sweepTime)
		if !idle.Ended() || awake.Ended() || unkept.Ended() {
			t.Errorf("left to the disk: %v, the one with an image %v, the one that is not kept %v", idle.Ended(), awake.Ended(), unkept.Ended())
		}
		if again := named(t, h, "idle"); again == idle || again.Ended() {
			t.Error("it is not made anew")
		}
		if err := os.Remove(obstacle); err != nil {
			t.Fatal(err)
		}
		define(unkept, "2")
		pass(sweepTime)
		if !unkept.Ended() {
			t.Error("it stays when it is kept")
		}
	})
}
