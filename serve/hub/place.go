package hub

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A wait is of a session that has no image, and wants one although no more may run.
type wait struct {
	s      *Session
	from   *Session           // gives its place up for it; nil: none does now
	cancel context.CancelFunc // breaks that off while calls are waited for
	tried  []*Session         // could not
}

// takePlace counts s among the images. Where no more may run, another one is put away, or s waits
// for one that has to be given up. The error is a *LimitError, ErrClosed, or the cause of ctx.
func (h *Hub) takePlace(ctx context.Context, s *Session) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &wait{s: s}
	h.waiting = append(h.waiting, w)
	defer h.leaveLocked(w)
	for {
		switch {
		case h.closed || s.ended:
			return ErrClosed
		case s.awake: // it may have been given a place
			return nil
		case h.freeLocked(w):
			s.wakeLocked()
			h.awake++
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case w.from == nil:
			from, how, soon := h.chooseLocked(w)
			if from == nil {
				h.counts.Refused++
				return &LimitError{What: "Lisp images running", Most: h.o.Images, After: soon}
			}
			h.askLocked(w, from, how)
		}
		changed := h.changes()
		h.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		case <-h.ctx.Done():
		}
		h.mu.Lock()
	}
}

// wakeLocked counts s, whose place among the images is counted already.
func (s *Session) wakeLocked() {
	s.awake, s.woken = true, true
	s.hub.counts.Woken++
	if s.hub.o.Ahead != nil {
		s.hub.o.Ahead.Look()
	}
}

// leaveLocked ends the waiting of w.
func (h *Hub) leaveLocked(w *wait) {
	h.waiting = slices.DeleteFunc(h.waiting, func(other *wait) bool { return other == w })
	if w.from != nil { // who comes next may choose it again
		w.cancel()
		w.from.yields = nil
	}
	h.changeLocked()
}

// changes returns what is closed when something has changed that those who wait want to know of.
func (h *Hub) changes() <-chan struct{} {
	if h.changed == nil {
		h.changed = make(chan struct{})
	}
	return h.changed
}

func (h *Hub) changeLocked() {
	if h.changed != nil {
		close(h.changed)
		h.changed = nil
	}
}

// freeLocked reports whether there is a free place for w: those go first whose principals have
// fewer images, and then those that came first.
func (h *Hub) freeLocked(w *wait) bool {
	if h.o.Images <= 0 {
		return true
	}
	images, before, seen := h.imagesLocked(), 0, false
	for _, other := range h.waiting {
		seen = seen || other == w
		mine, its := images[w.s.Principal], images[other.s.Principal]
		if other != w && other.s != w.s && (its < mine || its == mine && !seen) {
			before++
		}
	}
	return h.o.Images-h.awake > before
}

// imagesLocked counts the images of each principal, as if those were given up already that are
// about to be.
func (h *Hub) imagesLocked() map[string]int {
	images := map[string]int{}
	for _, s := range h.allLocked() {
		if s.awake && s.yields == nil {
			images[s.Principal]++
		}
	}
	for _, w := range h.waiting {
		if w.from != nil && !w.s.awake {
			images[w.s.Principal]++
		}
	}
	return images
}

// giving says how an image is given up, the first before the others.
type giving int

const (
	rested giving = iota // nobody has used it for restTime
	idle                 // nothing runs in it
	job                  // something runs in the background, or waits in the debugger
	calls                // calls run, which end first
)

// share counts the images that a principal has more than another one to which it gives one up: with one
// more alone the two would take it from each other in turn.
const share = 2

// chooseLocked returns the session that is to give its place up for w, and how: anybody's that is
// rested, or else one of a principal's that has more than a share. If there is none, it says when
// one may be rested, or 0.
func (h *Hub) chooseLocked(w *wait) (from *Session, how giving, soon time.Duration) {
	images := h.imagesLocked()
	mine := images[w.s.Principal]
	var end time.Time // of the calls of from
	for _, s := range h.allLocked() {
		work := s.Work()
		if !s.awake || s.yields != nil || work == nil || slices.Contains(w.tried, s) {
			continue
		}
		its := giving(idle)
		rest := restTime - time.Since(s.used)
		switch {
		case s.users > 0:
			its = calls
		case work.Image.InUse():
			its = job
		case rest <= 0:
			its = rested
		default:
			if soon == 0 || rest < soon {
				soon = rest
			}
		}
		if its != rested && images[s.Principal] < mine+share {
			continue
		}
		var ends time.Time
		if its == calls {
			ends = work.Image.CallsEnd()
		}
		if from == nil || before(
			its-how,
			images[from.Principal]-images[s.Principal],
			ends.Compare(end),
			s.used.Compare(from.used),
		) {
			from, how, end = s, its, ends
		}
	}
	return from, how, soon
}

// before reports whether the first difference that there is is negative.
func before[N ~int](first N, others ...int) bool {
	for _, d := range append([]int{int(first)}, others...) {
		if d != 0 {
			return d < 0
		}
	}
	return false
}

// askLocked has from give its place up for w.
func (h *Hub) askLocked(w *wait, from *Session, how giving) {
	n := h.imagesLocked()[from.Principal]
	whose := fmt.Sprintf("another user of the server, who waited for one while you had %d of the %d images that may run", n, h.o.Images)
	ctx, cancel := context.WithCancel(h.ctx)
	w.from, w.cancel, from.yields = from, cancel, w
	h.work.Go(func() {
		defer cancel()
		from.giveUp(ctx, w, how, whose)
	})
}

// giveUp ends the image of s for w, whose place it gets; whose says to whom, for the reply.
func (s *Session) giveUp(ctx context.Context, w *wait, how giving, whose string) {
	h := s.hub
	s.turning.Lock()
	defer s.turning.Unlock()
	h.mu.Lock()
	still := s.awake && !s.ended && s.yields == w && slices.Contains(h.waiting, w) && (how == calls || s.users == 0)
	h.mu.Unlock()
	var err error
	switch {
	case !still:
	case how == rested: // who has not gone is told that nobody has used it
		err = s.hibernate(h.ctx, w) // not broken off when w gives up: it may save another's values
	default:
		err = s.Work().Image.Evict(ctx, whose, func() {
			s.log.Info("the image was put away", "for", w.s.Principal)
			s.handOver(w)
		})
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if w.from = nil; s.yields == w {
		s.yields = nil
	}
	if err != nil {
		s.log.Debug("not given up", "because", err)
		w.tried = append(w.tried, s)
	}
	h.changeLocked()
}

// handOver gives the place of s, whose image has ended, to w; nil is to whoever wants it.
func (s *Session) handOver(w *wait) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	if !s.awake {
		return
	}
	s.awake = false
	h.counts.Hibernated++
	if w != nil && slices.Contains(h.waiting, w) && !w.s.awake && !w.s.ended {
		w.s.wakeLocked()
	} else {
		h.awake--
	}
	h.changeLocked()
}

// hibernate ends the image of s, if nobody uses it. What s has defined stays. The caller holds
// s.turning.
func (s *Session) hibernate(ctx context.Context, w *wait) error {
	ctx, cancel := context.WithTimeout(ctx, hibernateLimit)
	defer cancel()
	if err := s.Work().Image.Hibernate(ctx); err != nil { // something runs in it: it is used
		s.hub.mu.Lock()
		defer s.hub.mu.Unlock()
		s.used = time.Now()
		return err
	}
	s.handOver(w)
	s.log.Info("the image was put away")
	return nil
}
