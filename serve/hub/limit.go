package hub

import (
	"fmt"
	"time"
)

// Limits of a [Hub]. Zero is no limit.
type Limits struct {
	Sessions     int // in all, those included that have no image now
	PerPrincipal int // of one principal
	Images       int // that run at once

	CPU  time.Duration // of the processor that the sessions of a principal use in an hour
	Disk int64         // bytes in the directories of a session
}

// LimitError says that there is no room now.
type LimitError struct {
	What  string        // "sessions", "images"
	Most  int           // of them
	Own   bool          // the limit is of each principal
	After time.Duration // when it is worth trying again
	Next  string        // one sentence: what else helps
	Text  string        // in the place of What and Most: the sentence that says which limit
}

func (e *LimitError) Error() string {
	if e.Text != "" {
		return e.Text + " Nothing was done." + e.again()
	}
	text := fmt.Sprintf("The server has %d %s, which is its limit, and all are in use.", e.Most, e.What)
	if e.Own {
		text = fmt.Sprintf("You have %d %s on this server, which is the limit for each of its users.", e.Most, e.What)
	}
	return text + " Nothing was done." + e.again()
}

// again says when to come back.
func (e *LimitError) again() string {
	return fmt.Sprintf(" Send the same again in %d seconds%s.", e.Seconds(), e.Next)
}

// Seconds is After as a whole number, at least 1.
func (e *LimitError) Seconds() int { return max(1, int((e.After+time.Second-1)/time.Second)) }

// retryAtMost is the longest that a client is sent away for: sessions are ended at any time.
const retryAtMost = time.Minute

func later(d time.Duration) time.Duration { return min(max(d, time.Second), retryAtMost) }

// roomLocked says by a *LimitError that there is no room for another session of the principal.
// One that was never used may have to make room.
func (h *Hub) roomLocked(principal string) error {
	full := func() bool { return h.o.Sessions > 0 && len(h.named)+len(h.nameless) >= h.o.Sessions }
	ownFull := func() bool { return h.o.PerPrincipal > 0 && h.owned[principal] >= h.o.PerPrincipal }
	switch {
	case ownFull() && !h.makeRoomLocked(principal):
		h.counts.Refused++
		return &LimitError{What: "sessions", Most: h.o.PerPrincipal, Own: true, After: retryAtMost,
			Next: ", or end one before"}
	case full() && !h.makeRoomLocked(""):
		h.counts.Refused++
		return &LimitError{What: "sessions", Most: h.o.Sessions, After: retryAtMost}
	}
	return nil
}

// unusedTime is how long a session that has never had an image may be idle until it makes
// room for another one: many clients begin a session that they never use, and do not end it.
const unusedTime = 10 * time.Second

// makeRoomLocked ends the oldest session without a name that was never used, of the
// principal, or of any with "". It reports whether there was one; its client begins anew when
// it comes back.
func (h *Hub) makeRoomLocked(principal string) bool {
	var oldest *Session
	for s := range h.nameless {
		idle := !s.woken && s.users == 0 && time.Since(s.used) > unusedTime
		if idle && (principal == "" || s.Principal == principal) && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	over := h.removeLocked(oldest)
	h.work.Go(func() { h.finish(oldest, over) })
	return true
}
