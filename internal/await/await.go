// Package await has tests wait. It is the one way in which a test of this module waits:
//
//   - for something that happens elsewhere, with [True], or with [Until] where the test says
//     itself what is wrong;
//   - for a value, or the end, of a channel, with [From];
//   - for a function to return, with [Do];
//   - for whatever takes a context, with the one of [Context];
//   - in an image, for the test: Lisp code waits at a [Gate].
//
// No test names a limit of time. What comes ends the wait at once, and so does the end of the
// process that it should come from, with what that process said. Only what never comes, from
// something that never ends, takes the [Ceiling]. So a wait that ends well says nothing about
// how fast the machine is, and a test that wants to say so belongs to scripts/bench.
package await

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"testing"
	"time"
)

// Ceiling is how long a test waits for what does not come. It is above the longest limit of the
// product itself, three minutes for the start of an image, so that the product's own words
// come first, and far below the limit that scripts/test gives a package.
const Ceiling = 4 * time.Minute

// ErrCeiling is the error of a wait that has taken the [Ceiling].
var ErrCeiling = fmt.Errorf("nothing has happened in %v", Ceiling)

// standing bounds how much one look counts for the ceiling: a process that was stopped, as a
// debugger or a busy machine does, has not waited meanwhile.
const standing = 10 * time.Second

// Process is something whose end ends a wait.
type Process interface {
	// Exited returns a channel that is closed when the process has ended.
	Exited() <-chan struct{}
	// Said returns what the process has said of itself: its log, or its standard error.
	Said() string
}

// EndedError is the error of a wait for something that a process should do which has ended.
type EndedError struct{ Said string }

func (e *EndedError) Error() string {
	if e.Said == "" {
		return "the process has ended, and said nothing"
	}
	return "the process has ended, and said:\n" + e.Said
}

// True returns when ok returns true. It fails the test, at once, when one of the processes
// ends before that, or at the [Ceiling].
func True(t testing.TB, what string, ok func() bool, from ...Process) {
	t.Helper()
	if err := Until(ok, from...); err != nil {
		t.Fatalf("it does not come to this: %s: %v", what, err)
	}
}

// Until returns nil when ok returns true, an [*EndedError] when one of the processes ends before
// that, and [ErrCeiling]. It looks once more after the end of a process.
func Until(ok func() bool, from ...Process) error {
	const longest = 50 * time.Millisecond
	var waited time.Duration
	for pause := time.Millisecond; ; pause = min(longest, pause*3/2) {
		began := time.Now()
		ended := whichEnded(from)
		switch {
		case ok():
			return nil
		case ended != nil:
			return &EndedError{ended.Said()}
		case waited > Ceiling || late(time.Now()):
			return ErrCeiling
		}
		time.Sleep(pause)
		waited += min(standing, time.Since(began))
	}
}

func whichEnded(processes []Process) Process {
	for _, p := range processes {
		select {
		case <-p.Exited():
			return p
		default:
		}
	}
	return nil
}

// From returns the next value of c, or the zero value if c is closed. It fails the test when one
// of the processes ends before that, or at the [Ceiling].
func From[V any](t testing.TB, what string, c <-chan V, from ...Process) (v V) {
	t.Helper()
	True(t, what, func() bool {
		select {
		case v = <-c:
			return true
		case <-time.After(time.Millisecond): // so that what comes ends the wait at once
			return false
		}
	}, from...)
	return v
}

// Do returns when f has returned, which runs in a goroutine of its own: f must not end the test.
// At the [Ceiling] the test fails, and f goes on.
func Do(t testing.TB, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	From(t, what, done)
}

// Context returns a context that ends with the test and, with [ErrCeiling] as its cause, at the
// [Ceiling].
func Context(t testing.TB) context.Context {
	ctx, stop := Limited(t.Context())
	t.Cleanup(stop)
	return ctx
}

// Limited is [Context] without a test: for what is set up for all of them.
func Limited(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, Ceiling, ErrCeiling)
}

// margin is how much of the time of go test is left to a test that has waited in vain, to say so.
const margin = 5 * time.Second

var began = time.Now()

// deadline returns when go test ends the binary, and the zero time if it does not.
var deadline = sync.OnceValue(func() time.Time {
	f := flag.Lookup("test.timeout")
	if f == nil {
		return time.Time{}
	}
	limit, ok := f.Value.(flag.Getter).Get().(time.Duration)
	if !ok || limit <= margin {
		return time.Time{}
	}
	return began.Add(limit - margin)
})

func late(now time.Time) bool { return !deadline().IsZero() && now.After(deadline()) }

// IsEnded reports whether err is that of a wait which the end of a process has ended.
func IsEnded(err error) bool { return errors.As(err, new(*EndedError)) }
