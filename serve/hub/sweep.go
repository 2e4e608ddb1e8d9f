package hub

import (
	"context"
	"sync"
	"time"
)

// sweepTime is how often the hub looks at most for sessions that nobody uses.
const sweepTime = 10 * time.Second

// youth is how long a session, or the id of a connection, may take to get its connection.
const youth = time.Minute

// sweep puts away the images that nobody uses and ends the sessions without a name whose
// clients have gone, until the hub is closed.
func (h *Hub) sweep() {
	every := sweepTime
	if h.o.Hibernate > 0 {
		every = min(every, max(h.o.Hibernate/4, 10*time.Millisecond))
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
		}
		h.mu.Lock()
		all := h.allLocked()
		h.mu.Unlock()
		for _, s := range all {
			s.Settle(false)
			if h.o.Hibernate > 0 && s.idle() >= h.o.Hibernate {
				s.putAway(h.ctx)
			}
		}
	}
}

// idle returns for how long nobody has used the image of s; 0 if it is used, or has none.
func (s *Session) idle() time.Duration {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if s.users > 0 || !s.awake {
		return 0
	}
	return time.Since(s.used)
}

// Settle forgets the connections of s that have ended. A session without a name ends with
// its last connection; now says that one that had none yet will have none.
func (s *Session) Settle(now bool) {
	live := map[string]bool{}
	for c := range s.Work().Bridge.Server().Sessions() {
		live[c.ID()] = true
	}
	h := s.hub
	h.mu.Lock()
	for id, since := range s.issued {
		if !live[id] && (now || time.Since(since) > youth) {
			delete(s.issued, id)
			delete(h.ids, id)
		}
	}
	over := s.Name == "" && len(s.issued) == 0 && s.users == 0 && (now || time.Since(s.since) > youth)
	h.mu.Unlock()
	if over {
		h.end(s)
	}
}

// Stop ends the calls of a session that is about to end.
func (s *Session) Stop() { s.Work().Bridge.Close() }

// End ends the session of the principal that has that name, with its image, and reports
// whether there was one. What was kept of it stays on the disk.
func (h *Hub) End(principal, name string) bool {
	h.mu.Lock()
	s := h.named[ID{principal, name}]
	h.mu.Unlock()
	if s != nil {
		h.end(s)
	}
	return s != nil
}

// closeLimit is how long an image may take to end.
const closeLimit = 3 * time.Second

// end takes s out of the hub and ends what it works with.
func (h *Hub) end(s *Session) {
	h.mu.Lock()
	if s.ended {
		h.mu.Unlock()
		return
	}
	s.ended = true
	delete(h.named, s.ID)
	delete(h.nameless, s)
	for id := range s.issued {
		delete(h.ids, id)
	}
	if h.owned[s.Principal]--; h.owned[s.Principal] == 0 {
		delete(h.owned, s.Principal)
	}
	h.counts.Ended++
	h.mu.Unlock()
	s.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.awake { // until here its image was there
		s.awake = false
		h.awake--
	}
}

// close ends what s works with: the calls, then the image, which may be saved before.
func (s *Session) close() {
	w, err := s.make()
	if err != nil {
		return // there is nothing
	}
	w.Bridge.Leave()
	for c := range w.Bridge.Server().Sessions() { // else they stay until their time is up
		_ = c.Close()
	}
	w.Image.SaveAtEnd()
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := w.Image.Close(ctx); err != nil {
		s.log.Warn("closing the image", "err", err)
	}
	w.Kept.Close()
	s.log.Info("the session ended")
}

// closers is how many sessions are ended at once.
const closers = 8

// Close ends all sessions, with what is kept of them. There are no others from then on.
func (h *Hub) Close() {
	h.mu.Lock()
	h.closed = true
	all := h.allLocked()
	h.mu.Unlock()
	h.cancel()
	var ending sync.WaitGroup
	places := make(chan struct{}, closers)
	for _, s := range all {
		places <- struct{}{}
		ending.Go(func() {
			defer func() { <-places }()
			h.end(s)
		})
	}
	ending.Wait()
	h.work.Wait()
}
