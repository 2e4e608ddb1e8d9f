package lisp

import (
	"sync"
	"sync/atomic"
	"time"
)

// EventKind says what an [Event] tells.
type EventKind string

// The life of a job, and that of images. A job that waits for no other is queued and
// begins at once; one that is refused or cancelled while it waits ends without having
// begun.
const (
	EventQueued    EventKind = "queued"
	EventBegun     EventKind = "begun"
	EventOutput    EventKind = "output" // also without any, as a sign of life
	EventSuspended EventKind = "suspended"
	EventEnded     EventKind = "ended"

	EventImageStarted EventKind = "image started" // or attached to
	EventImageEnded   EventKind = "image ended"   // or lost; Text says how
)

// An Event is something that has happened to a job of a session, or to the image.
type Event struct {
	Kind    EventKind
	Time    time.Time
	Session string        // "" for events of the image
	Job     int64         // number of the job, counted from 1 for all sessions; 0 for events of the image
	Text    string        // beginning of the job's code; for an image how it ended
	Elapsed time.Duration // since the job has begun
	Output  string        // printed since the last EventOutput of this job
	Result  *Result       // of EventEnded and EventSuspended, a copy; nil if there is an error, or nothing to show
	Err     error         // of EventEnded
	PID     int           // of an image
}

// A Subscription brings events in the order in which they happen. Who reads too
// slowly misses the oldest: nobody waits for a subscriber.
type Subscription struct {
	C <-chan Event

	events *events
	c      chan Event
	output bool
	job    int64 // of this alone, unless it is 0
	lost   atomic.Int64
}

// Lost returns how many events did not fit.
func (s *Subscription) Lost() int64 { return s.lost.Load() }

// Close ends the subscription, and C with it.
func (s *Subscription) Close() {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	if _, open := s.events.subscriptions[s]; open {
		delete(s.events.subscriptions, s)
		close(s.c)
	}
}

// Subscribe returns the events from now on, until Close or that of the image. C holds
// size of them, at least one. With output the image is asked five times a second what a
// job that has begun since has printed; else there is no EventOutput but those that others
// want.
func (im *Image) Subscribe(size int, output bool) *Subscription {
	return im.events.subscribe(size, output, 0)
}

// events are the subscriptions of an image. The zero value is ready.
type events struct {
	mu            sync.Mutex
	subscriptions map[*Subscription]struct{}
}

func (e *events) subscribe(size int, output bool, job int64) *Subscription {
	c := make(chan Event, max(size, 1))
	s := &Subscription{C: c, events: e, c: c, output: output, job: job}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.subscriptions == nil {
		e.subscriptions = map[*Subscription]struct{}{}
	}
	e.subscriptions[s] = struct{}{}
	return s
}

// end closes all subscriptions.
func (e *events) end() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subscriptions {
		close(s.c)
	}
	e.subscriptions = nil
}

// wantOutput reports whether somebody wants to know what the job prints.
func (e *events) wantOutput(job int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subscriptions {
		if s.output && (s.job == 0 || s.job == job) {
			return true
		}
	}
	return false
}

// publish tells those who want to know. It never waits.
func (e *events) publish(ev Event) {
	ev.Time = time.Now()
	e.mu.Lock()
	defer e.mu.Unlock()
	for s := range e.subscriptions {
		if s.job != 0 && s.job != ev.Job {
			continue
		}
		for sent := false; !sent; {
			select {
			case s.c <- ev:
				sent = true
			default:
				select {
				case <-s.c:
					s.lost.Add(1)
				default: // it has been read meanwhile
				}
			}
		}
	}
}
