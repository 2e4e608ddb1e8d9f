package hub

import (
	"fmt"
	"time"

	"swank-mcp/swank/lisp"
)

// meterTime is how often the hub asks what the images use, where that has a limit.
const meterTime = time.Second

// cpuSpan is the time in which a principal's sessions may use so much of the processor.
const cpuSpan = time.Hour

// afterlife is how much of the processor code may use after the evaluations were stopped, until
// the image is ended: threads and programs that it has started. What an image uses that does
// nothing does not count, which is idleShare at most.
const (
	afterlife = 5 * time.Second
	idleShare = meterTime / 50
)

// A cpuSpending is what the sessions of a principal have used of the processor.
type cpuSpending struct {
	since time.Time
	used  time.Duration
	over  time.Time // when it was found to be too much; zero: it is not
}

// cpuSeen is what the hub has read last of an image.
type cpuSeen struct {
	dir    string // its own, which copies of it have, too
	used   time.Duration
	after  time.Duration // of that, since its evaluations were stopped
	beside time.Duration // of those that were started for one call
}

// meter holds principals and sessions to their limits of the processor's time and of the disk,
// until the hub is closed.
func (h *Hub) meter() {
	h.each(meterTime, func(s *Session) {
		w := s.Work()
		if w == nil || !w.Image.Runs() {
			return
		}
		if h.o.CPU > 0 {
			s.charge(w.Image.Uses(false))
		}
		if h.o.Disk > 0 {
			s.watchDisk()
		}
	})
}

// charge adds what the image of s has used since the last time, and ends what goes on when
// that is too much.
func (s *Session) charge(uses lisp.Uses) {
	if uses.PID == 0 {
		return
	}
	h := s.hub
	h.mu.Lock()
	seen, dir := s.cpu, uses.Disk[0]
	if seen.dir != dir {
		seen = cpuSeen{dir: dir, beside: seen.beside}
	}
	delta := max(0, uses.CPU-seen.used)
	beside := max(0, uses.Beside-seen.beside)
	seen.used, seen.beside = uses.CPU, seen.beside+beside
	spent := h.spentLocked(s.Principal)
	spent.used += delta + beside
	if spent.over.IsZero() && spent.used > h.o.CPU {
		spent.over = time.Now()
		s.log.Warn("the limit of the processor's time is reached", "used", spent.used, "limit", h.o.CPU)
	}
	over := !spent.over.IsZero()
	switch {
	case !over:
		seen.after = 0
	case time.Since(spent.over) > meterTime && delta > idleShare:
		seen.after += delta
	}
	s.cpu = seen
	limit := h.cpuErrorLocked(spent)
	h.mu.Unlock()
	if !over {
		return
	}
	image := s.Work().Image
	if n := image.StopFor(limit.Text + limit.again()); n > 0 {
		s.log.Info("evaluations are stopped", "evaluations", n)
	}
	if seen.after >= afterlife && image.GiveUp("the limit of the processor's time is reached and something in it went on after the evaluations were stopped") {
		s.log.Warn("the image is ended, because something in it goes on")
	}
}

// spentLocked is what the sessions of the principal have used in the hour that runs.
func (h *Hub) spentLocked(principal string) *cpuSpending {
	spent := h.spent[principal]
	if spent == nil || time.Since(spent.since) >= cpuSpan {
		spent = &cpuSpending{since: time.Now()}
		h.spent[principal] = spent
	}
	return spent
}

// cpuErrorLocked is what who has used too much is told.
func (h *Hub) cpuErrorLocked(spent *cpuSpending) *LimitError {
	return &LimitError{Own: true, After: max(cpuSpan-time.Since(spent.since), time.Second),
		Text: fmt.Sprintf("Your sessions have used %.0f seconds of the processor since %s, and the limit is %.0f in an hour.",
			spent.used.Seconds(), spent.since.Format("15:04:05"), h.o.CPU.Seconds())}
}

// May says by a *LimitError that s may evaluate nothing now, because what it may use is used
// up.
func (s *Session) May() error {
	if err := s.mayUse(); err != nil {
		return err
	}
	return s.mayWrite()
}

// mayUse is May for the processor's time of the principal.
func (s *Session) mayUse() error {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.o.CPU == 0 {
		return nil
	}
	if spent := h.spentLocked(s.Principal); !spent.over.IsZero() {
		h.counts.Refused++
		return h.cpuErrorLocked(spent)
	}
	return nil
}
