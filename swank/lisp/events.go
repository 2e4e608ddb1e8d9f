package lisp

import (
	"context"
	"strings"
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
	EventBegun     EventKind = "begun"     // sent to the session's thread, if it is for that
	EventOutput    EventKind = "output"    // also without any, as a sign of life
	EventSuspended EventKind = "suspended" // the evaluation that it is about waits in the debugger
	EventLeft      EventKind = "left"      // goes on in the background, as the job-N that Number names
	EventEnded     EventKind = "ended"

	EventLooked EventKind = "looked" // a look-up was answered, see [Session.Looked]; of a session, but no job

	EventPaused  EventKind = "paused"  // by a person: jobs that begin wait; an event of the image
	EventResumed EventKind = "resumed" // they go on

	EventAsked    EventKind = "asked"    // the person, whether to allow what Text says: the question of that Number, within Limit; an event of the image
	EventAnswered EventKind = "answered" // the question of that Number: Text is an [Answer]
	EventPolicy   EventKind = "policy"   // a person has said what agents may do: Text is a [Policy]; an event of the image

	EventCheckpoint EventKind = "checkpoint" // was taken; Elapsed is how long the image did not answer, Text its name, PID the copy's

	EventImageStarted  EventKind = "image started"  // the first, or attached to
	EventImageReplaced EventKind = "image replaced" // another one started, or attached to anew
	EventImageEnded    EventKind = "image ended"    // or lost, with all suspended evaluations in it; Text says how
)

// An Event is something that has happened to a job of a session, or to the image.
type Event struct {
	Kind    EventKind
	Time    time.Time
	Session string        // "" for events of the image
	Client  string        // for whom the job is done, by [ByClient]; may be ""
	Version string        // of the client, by [OfVersion]; may be ""
	Tool    string        // which tool it is done for, by [ByTool]; may be ""
	Job     int64         // number of the job, counted from 1 for all sessions; 0 for events of the image
	Text    string        // what the job is called, in 80 characters; for an image how it ended; of EventLooked the arguments
	Code    *Excerpt      // of EventBegun: what is evaluated; nil for a debugger command, and where nothing is
	Source  Text          // the same, more of it: at most eventCode characters
	Package string        // of EventBegun with Code: the package that it is read in; "" if that is not known
	Elapsed time.Duration // since the job has its turn; of EventLooked, for the answer
	Output  string        // of EventOutput: printed since the one before, at most progressChars of each stream
	Printed int64         // of EventOutput: characters printed so far
	Outcome *Outcome      // of EventEnded and EventSuspended; nil if nothing was evaluated
	Result  *Result       // the same, more of it: its texts have bounds; not to be changed
	Number  int           // of EventLeft, EventAsked, EventAnswered
	Limit   time.Duration // of EventAsked: for how long the call waits for an answer
	Err     error         // of EventEnded and EventLooked: why its caller gets no result
	PID     int           // of an image
}

type clientKey struct{}

// ByClient returns a context whose jobs are done for the client of that name.
func ByClient(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, clientKey{}, name)
}

type versionKey struct{}

// OfVersion returns a context whose jobs are done for a client of that version.
func OfVersion(ctx context.Context, version string) context.Context {
	return context.WithValue(ctx, versionKey{}, version)
}

// named is how people know a client.
func named(client, version string) string { return strings.TrimSpace(client + " " + version) }

type toolKey struct{}

// ByTool returns a context whose jobs are done for the tool of that name.
func ByTool(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, toolKey{}, name)
}

// A Subscription brings events in the order in which they happen. A subscriber that
// reads too slowly misses the oldest: nothing waits for it.
type Subscription struct {
	C <-chan Event

	events *events
	c      chan Event
	output bool
	job    int64 // of this alone, unless it is 0
	lost   atomic.Int64
}

// Lost returns how many events the subscriber has missed.
func (s *Subscription) Lost() int64 { return s.lost.Load() }

// WantOutput says whether the image is to be asked what jobs print, as [Image.Subscribe]
// says. It holds for jobs that run, too.
func (s *Subscription) WantOutput(want bool) {
	s.events.mu.Lock()
	defer s.events.mu.Unlock()
	s.output = want
}

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
// size of them, at least one. With output the image is asked five times a second what each
// job has printed that runs; without it, an EventOutput comes only where another
// subscriber wants it.
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

// wanted reports whether there is a subscriber.
func (e *events) wanted() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.subscriptions) > 0
}

// wantOutput reports whether a subscriber wants to know what the job prints.
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

// publish sends ev to the subscribers. It never waits.
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
