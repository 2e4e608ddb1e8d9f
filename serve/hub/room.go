package hub

import (
	"fmt"
	"time"
)

// How long nobody has used a session until it makes room for another one, where nothing runs in it
// and nobody is connected to it. Many clients begin a session that they never use, and many go
// without a word.
const (
	unusedTime = 10 * time.Second // of one that has never had an image
	leftTime   = time.Minute      // of others, whose clients may have been at work elsewhere
)

// restsLocked returns for how long yet nobody may use s until it makes room for another one, and
// reports whether it can come to that.
func (s *Session) restsLocked() (left time.Duration, ok bool) {
	w := s.Work()
	if s.users > 0 || s.streams > 0 || w == nil || s.awake && w.Image.InUse() {
		return 0, false
	}
	long := leftTime
	switch {
	case s.Name != "" && (w.Kept == nil || w.Kept.Problem() != ""):
		return 0, false // the next one would not have all
	case s.Name == "" && !s.woken:
		long = unusedTime
	case s.Name == "" && s.heard: // its client had a stream open, and has closed it
		long = restTime
	}
	return long - time.Since(s.used), true
}

// makeRoomLocked ends a session that nobody is connected to, of the principal, or with "" of the
// one that has most of those who have one to end: one that loses nothing before others, and the
// one that nobody has used for the longest time. It reports whether there was one; if not, it
// returns when there may be one, or 0.
func (h *Hub) makeRoomLocked(principal string) (soon time.Duration, ok bool) {
	var goes *Session
	for _, s := range h.allLocked() {
		if principal != "" && s.Principal != principal {
			continue
		}
		left, can := s.restsLocked()
		switch {
		case !can:
		case left >= 0:
			if soon == 0 || left < soon {
				soon = max(left, time.Nanosecond)
			}
		case goes == nil || before(h.owned[goes.Principal]-h.owned[s.Principal], s.loses()-goes.loses(), s.used.Compare(goes.used)):
			goes = s
		}
	}
	if goes == nil {
		return soon, false
	}
	goes.log.Info("the session makes room for another one")
	h.rememberLocked(goes)
	over := h.removeLocked(goes)
	h.work.Go(func() { h.finish(goes, over) })
	return 0, true
}

// loses returns 1 if something of s is lost when it ends, else 0.
func (s *Session) loses() int {
	if s.Name == "" && s.woken {
		return 1
	}
	return 0
}

// goneKept counts the connections of which the hub remembers that their sessions have made room.
const goneKept = 1000

// A gone connection is of a session that has made room for another one.
type gone struct {
	of  ID
	why string
}

// rememberLocked has those told that come back to s, which makes room.
func (h *Hub) rememberLocked(s *Session) {
	why := fmt.Sprintf("it made room for another one after nobody had used it for %d seconds", int(time.Since(s.used).Seconds()))
	switch {
	case s.Name != "":
		why += ". What it has defined is kept"
	case s.woken:
		why += ", and what it had defined went with it"
	}
	for id := range s.issued {
		h.gone[id] = gone{s.ID, why}
		h.goneIDs = append(h.goneIDs, id)
	}
	for len(h.goneIDs) > goneKept {
		delete(h.gone, h.goneIDs[0])
		h.goneIDs = h.goneIDs[1:]
	}
}

// Gone says why there is no session any more of a connection of the principal's that was made at
// the session's place, if it has made room for another one; else it returns "".
func (h *Hub) Gone(principal, name, id string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g := h.gone[id]; g.of == (ID{principal, name}) {
		return g.why
	}
	return ""
}

// Attend says that a client has a stream of s open, until the function returned is called.
func (s *Session) Attend() (leave func()) {
	h := s.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	s.streams++
	s.heard = true
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.streams--
		s.used = time.Now()
	}
}
