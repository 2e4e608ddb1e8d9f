package hub

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A principal whose sessions have used up what they may use is stopped in all of them, and is
// told when to come back; others are not. What goes on then is ended with its image, and the
// next hour begins anew.
func TestProcessorTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const limit = 1000 * time.Second
		h := testHub(t, Options{Limits: Limits{CPU: limit}})
		get := func(principal, name string) *Session {
			t.Helper()
			s, err := h.Named(t.Context(), principal, name)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		x, idle, other := get("anna", "x"), get("anna", "idle"), get("bert", "x")
		for pid, s := range []*Session{x, idle, other} {
			s.fake().start(pid + 1)
		}
		began := time.Now()
		pass(meterTime) // the hour of each begins when the meter sees the first of its images
		hour := time.Now()

		// What counts: all images of the principal, those beside them, and one after the other.
		x.fake().use(500*time.Second, 100*time.Second)
		other.fake().use(limit-time.Second, 0)
		pass(meterTime)
		x.fake().start(4) // another one in its place
		x.fake().use(200*time.Second, 0)
		idle.fake().use(190*time.Second, 0)
		pass(meterTime)
		used := func(who string, want time.Duration) {
			t.Helper()
			h.mu.Lock()
			got := h.spentLocked(who).used
			h.mu.Unlock()
			if got != want {
				t.Errorf("%s has used %v, want %v", who, got, want)
			}
		}
		used("anna", 990*time.Second)
		used("bert", limit-time.Second)
		if err := x.May(); err != nil {
			t.Error(err)
		}

		x.fake().spin(true)
		pass(9 * meterTime)
		stopped, _ := x.fake().noted()
		if err := x.May(); err != nil || len(stopped) > 0 {
			t.Errorf("below the limit: %v, stopped %q", err, stopped)
		}
		pass(3 * meterTime) // the limit is found to be reached, and then all are stopped
		const text = "Your sessions have used 100"
		rest := " seconds of the processor since " + hour.Format("15:04:05") + ", and the limit is 1000 in an hour. Send the same again in 358"
		for _, s := range []*Session{x, idle} {
			stopped, givenUp := s.fake().noted()
			if len(stopped) == 0 || !strings.HasPrefix(stopped[0], text) || !strings.Contains(stopped[0], rest) || len(givenUp) > 0 {
				t.Errorf("%s: stopped %q, given up %q", s.Name, stopped, givenUp)
			}
		}
		var full *LimitError
		for _, s := range []*Session{x, idle, get("anna", "new")} {
			if err := s.May(); !errors.As(err, &full) || !full.Own || full.After != cpuSpan-time.Since(hour) ||
				!strings.Contains(err.Error(), text+"2") || !strings.Contains(err.Error(), " Nothing was done. Send the same again in 3586 seconds.") {
				t.Errorf("%s: %v", s.Name, err)
			}
		}

		// What goes on after that: its image is ended, when it has used so much.
		pass(afterlife - meterTime)
		_, givenUp := x.fake().noted()
		if len(givenUp) > 0 {
			t.Errorf("given up after %v: %q", time.Since(began), givenUp)
		}
		pass(meterTime)
		_, givenUp = x.fake().noted()
		if _, idles := idle.fake().noted(); len(givenUp) != 1 || len(idles) > 0 {
			t.Errorf("given up: %q, and that which does nothing: %q", givenUp, idles)
		}
		x.fake().start(5) // in its place; nothing goes on in it
		for range 300 {   // as much as an image uses that does nothing
			idle.fake().use(idleShare, 0)
			pass(meterTime)
		}
		for _, s := range []*Session{x, idle} {
			if _, givenUp := s.fake().noted(); len(givenUp) > 1 || s == idle && len(givenUp) > 0 {
				t.Errorf("%s is given up though it does nothing: %q", s.Name, givenUp)
			}
		}
		if stopped, givenUp := other.fake().noted(); len(stopped)+len(givenUp) > 0 || other.May() != nil {
			t.Errorf("another principal: %q, %q, %v", stopped, givenUp, other.May())
		}

		pass(time.Until(hour.Add(cpuSpan - time.Second)))
		if err := x.May(); !errors.As(err, &full) || full.Seconds() != 1 {
			t.Errorf("a second before the hour is over: %v", err)
		}
		pass(time.Second)
		if err := x.May(); err != nil {
			t.Errorf("an hour later: %v", err)
		}
		before, _ := idle.fake().noted()
		pass(10 * meterTime)
		if after, _ := idle.fake().noted(); len(after) > len(before) {
			t.Error("its evaluations are stopped in the next hour, too")
		}
		used("anna", 0)
	})
}
