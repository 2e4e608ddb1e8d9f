package transcript

import (
	"context"
	"fmt"
	"sync"
	"time"

	"swank-mcp/swank/lisp"
)

// Options of a [Transcript].
type Options struct {
	Dir      string              // of the files, which is made when the first is written; "" writes none
	OnDemand bool                // note nothing before somebody watches
	Head     Entry               // which server it is: the beginning of each file, with its PID
	Problem  func(problem error) // told when the disk takes nothing more, once, and with nil when it does again; may be nil
}

// A Transcript is what is noted of the work of a server. Its methods may be called from any
// goroutine.
//
// Goroutines: one for each subscription that is followed, which ends with it, and one that
// writes the files, which [Transcript.Close] ends.
type Transcript struct {
	ring  ring
	files *store         // nil: none is written
	notes sync.WaitGroup // of events
	work  sync.WaitGroup // with files

	mu       sync.Mutex
	followed []*lisp.Subscription
	waiting  []*lisp.Image // that are followed when somebody watches
	watchers int
	onDemand bool // nobody has watched yet, and nothing is to be noted before
}

// New returns a transcript without entries. It writes nothing yet.
func New(o Options) *Transcript {
	t := &Transcript{onDemand: o.OnDemand}
	if o.Dir != "" {
		t.files = newStore(o)
		t.work.Go(func() { t.files.write(t.ring.after(0, -1)) })
	}
	return t
}

// backlog is how many events of an image may wait to be noted: more than come in gather.
const backlog = 2048

// gather is how long events are gathered before they are noted: an evaluation costs less
// if it does not wake a goroutine.
const gather = 20 * time.Millisecond

// Follow notes what happens in the image from now on, until it is closed.
func (t *Transcript) Follow(im *lisp.Image) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.onDemand {
		t.waiting = append(t.waiting, im)
	} else {
		t.follow(im)
	}
}

// follow is Follow for who holds t.mu.
func (t *Transcript) follow(im *lisp.Image) {
	sub := im.Subscribe(backlog, false)
	t.followed = append(t.followed, sub)
	t.notes.Go(func() {
		told := int64(0)
		n := noter{}
		var entries []Entry
		for ev := range sub.C {
			time.Sleep(gather)
			entries = n.note(entries[:0], ev)
			for more := true; more && len(entries) < backlog; {
				select {
				case ev, open := <-sub.C:
					if more = open; open {
						entries = n.note(entries, ev)
					}
				default:
					more = false
				}
			}
			if lost := sub.Lost(); lost > told {
				t.Add(leftOut(lost-told, "more happened at once than could be noted"))
				told = lost
			}
			t.ring.add(entries)
			clear(entries) // they are long
		}
	})
}

// noter chooses the events that are noted.
type noter struct {
	noted map[int64]bool // jobs that run, of which the beginning was noted
}

// note adds the entry of ev, if it is to be noted. Not noted are that a job is queued, and
// what the server does for itself, such as keeping a session.
func (n *noter) note(entries []Entry, ev lisp.Event) []Entry {
	if ev.Kind == lisp.EventQueued {
		return entries
	}
	if ev.Job == 0 {
		return append(entries, of(ev))
	}
	if n.noted == nil {
		n.noted = map[int64]bool{}
	}
	if ev.Kind == lisp.EventBegun && (ev.Tool != "" || ev.Code != nil) {
		n.noted[ev.Job] = true
	}
	if !n.noted[ev.Job] && ev.Tool == "" {
		return entries
	}
	if ev.Kind == lisp.EventEnded || ev.Kind == lisp.EventSuspended {
		delete(n.noted, ev.Job)
	}
	return append(entries, of(ev))
}

// Add notes e, whose number and time it sets.
func (t *Transcript) Add(e Entry) {
	e.Time = time.Now().UTC()
	t.ring.add([]Entry{e})
}

// After returns a reader of what was noted after entry n, as far as it is in memory, and of
// what is noted from now on.
func (t *Transcript) After(n int64) *Reader { return t.ring.after(max(n, 0), -1) }

// Last returns a reader that begins with the n last entries.
func (t *Transcript) Last(n int) *Reader { return t.ring.after(0, max(n, 0)) }

// Watched says that somebody watches who wants to see what work that runs has printed so
// far, until the function returned is called.
func (t *Transcript) Watched() (end func()) {
	t.count(1)
	return sync.OnceFunc(func() { t.count(-1) })
}

func (t *Transcript) count(by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchers += by
	t.onDemand = false
	for _, im := range t.waiting {
		t.follow(im)
	}
	t.waiting = nil
	for _, sub := range t.followed {
		sub.WantOutput(t.watchers > 0)
	}
}

// Kept tells in which files the transcript is, and why the newest entries are in none, or
// "".
func (t *Transcript) Kept() (paths []string, problem string) {
	if t.files == nil {
		return nil, ""
	}
	return t.files.kept()
}

// Close ends the transcript: what was noted is written, as long as ctx says, and then
// readers are at its end.
func (t *Transcript) Close(ctx context.Context) error {
	t.mu.Lock()
	for _, sub := range t.followed {
		sub.Close()
	}
	t.waiting = nil
	t.mu.Unlock()
	done := make(chan struct{})
	go func() {
		t.notes.Wait()
		t.ring.close()
		t.work.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the transcript was not written to its end: %w", context.Cause(ctx))
	}
}
