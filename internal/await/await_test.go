package await

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// process is one that a test ends.
type process chan struct{}

func (p process) Exited() <-chan struct{} { return p }
func (process) Said() string              { return "out of memory" }

func TestUntil(t *testing.T) {
	never := func() bool { return false }
	for _, c := range []struct {
		name string
		ok   func() bool
		ends time.Duration // of the process; 0: it goes on
		want error
		took time.Duration // at least, and a second more at most
	}{
		{"at once", func() bool { return true }, 0, nil, 0},
		{"never", never, 0, ErrCeiling, Ceiling},
		{"the process ends", never, 3 * time.Second, new(EndedError), 3 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, began := make(process), time.Now()
				if c.ends > 0 {
					time.AfterFunc(c.ends, func() { close(p) })
				}
				err := Until(c.ok, p)
				switch {
				case IsEnded(c.want) != IsEnded(err), !IsEnded(err) && !errors.Is(err, c.want):
					t.Errorf("got %v, want %v", err, c.want)
				case IsEnded(err) && err.Error() != "the process has ended, and said:\nout of memory":
					t.Errorf("it says %q", err)
				}
				if took := time.Since(began); took < c.took || took > c.took+time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// What a process did in its last moment counts.
func TestUntilLooksAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, looks := make(process), 0
		close(p)
		if err := Until(func() bool { looks++; return true }, p); err != nil || looks != 1 {
			t.Errorf("after %d looks: %v", looks, err)
		}
	})
}

// A look that the machine lets stand does not take the ceiling from what is waited for.
func TestStandingStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		err := Until(func() bool {
			if looks++; looks < 3 {
				time.Sleep(Ceiling)
			}
			return looks > 3
		})
		if err != nil {
			t.Errorf("after %d looks: %v", looks, err)
		}
	})
}

func TestFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := make(chan int)
		go func() {
			time.Sleep(time.Minute)
			c <- 7
			close(c)
		}()
		if v := From(t, "a number", c); v != 7 {
			t.Errorf("got %d", v)
		}
		if v := From(t, "the end", c); v != 0 {
			t.Errorf("got %d", v)
		}
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := Context(t)
		<-ctx.Done()
		if context.Cause(ctx) != ErrCeiling {
			t.Errorf("it ended for %v", context.Cause(ctx))
		}
	})
}

// A wait in vain fails the test before go test ends the binary.
func TestDeadline(t *testing.T) {
	if d, ok := t.Deadline(); ok && !deadline().Before(d) {
		t.Errorf("waits end at %v, go test at %v", deadline(), d)
	}
}
