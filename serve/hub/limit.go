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
	After time.Duration // when it is worth trying again; 0: that is not known
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

// again says when to come back, if that is known.
func (e *LimitError) again() string {
	if e.After <= 0 {
		return fmt.Sprintf(" When there will be room is not known. Send the same again later%s.", e.Next)
	}
	return fmt.Sprintf(" Send the same again in %d seconds%s.", e.Seconds(), e.Next)
}

// Seconds is After as a whole number, at least 1, or 0 if it is not known.
func (e *LimitError) Seconds() int {
	if e.After <= 0 {
		return 0
	}
	return max(1, int((e.After+time.Second-1)/time.Second))
}

// roomLocked says by a *LimitError that there is no room for another session of the principal.
// One that nobody is connected to may have to make room.
func (h *Hub) roomLocked(principal string) error {
	full := func() bool { return h.o.Sessions > 0 && len(h.named)+len(h.nameless) >= h.o.Sessions }
	ownFull := func() bool { return h.o.PerPrincipal > 0 && h.owned[principal] >= h.o.PerPrincipal }
	if ownFull() {
		if soon, ok := h.makeRoomLocked(principal); !ok {
			h.counts.Refused++
			return &LimitError{What: "sessions", Most: h.o.PerPrincipal, Own: true, After: soon, Next: ", or end one before"}
		}
	}
	if full() {
		if soon, ok := h.makeRoomLocked(""); !ok {
			h.counts.Refused++
			return &LimitError{What: "sessions", Most: h.o.Sessions, After: soon}
		}
	}
	return nil
}
