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

// sweep puts away the images that nobody uses, ends the sessions without a name whose
// clients have gone, and leaves named ones to the disk, until the hub is closed.
func (h *Hub) sweep() {
	every := sweepTime
	if h.o.Hibernate > 0 {
		every = min(every, max(h.o.Hibernate/4, 10*time.Millisecond))
	}
	h.each(every, func(s *Session) {
		if s.Work() == nil {
			return
		}
		s.Settle("")
		s.notice()
		if h.o.Hibernate > 0 && s.idle() >= h.o.Hibernate {
			s.putAway(h.ctx)
		}
		h.leaveToDisk(s)
	})
}

// each does work for every session each time that d has passed, until the hub is closed.
func (h *Hub) each(d time.Duration, work func(*Session)) {
	h.repeat(d, func() {
		h.mu.Lock()
		all := h.allLocked()
		h.mu.Unlock()
		for _, s := range all {
			work(s)
		}
	})
}

// repeat does work each time that d has passed, until the hub is closed.
func (h *Hub) repeat(d time.Duration, work func()) {
	tick := time.NewTicker(d)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return
		case <-tick.C:
			work()
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

// notice counts an image that no request has started, as files that are watched do.
func (s *Session) notice() {
	if !s.turning.TryLock() {
		return // it is being counted
	}
	defer s.turning.Unlock()
	if !s.Work().Image.Runs() {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if !s.awake && !s.ended {
		s.awake, s.used = true, time.Now()
		s.hub.awake++
	}
}

// leaveToDisk ends s if nobody has used it for long and the disk has all there is of it. Who
// enters it meanwhile finds that it has ended, or keeps it.
func (h *Hub) leaveToDisk(s *Session) {
	w := s.Work()
	h.mu.Lock()
	var over *ending
	if h.o.Forget > 0 && s.onlyKeptLocked(w) >= h.o.Forget {
		over = h.removeLocked(s)
	}
	h.mu.Unlock()
	if over != nil {
		h.finish(s, over)
	}
}

// onlyKeptLocked returns for how long nobody has used a session of which the disk has all
// there is; 0 for another one.
func (s *Session) onlyKeptLocked(w *Work) time.Duration {
	if s.Name == "" || s.awake || s.users > 0 || len(s.issued) > 0 || w.Kept == nil || w.Kept.Problem() != "" {
		return 0
	}
	return time.Since(s.used)
}

// Settle forgets the connections of s that have ended: at once the one of that id, which
// may have come to nothing, and else those that are old enough. A session without a name
// ends with its connection. Those that end with s itself go on at the server that gets it.
func (s *Session) Settle(id string) {
	live := map[string]bool{}
	for c := range s.Work().Bridge.Server().Sessions() {
		live[c.ID()] = true
	}
	var gone []string
	h := s.hub
	h.mu.Lock()
	for other, since := range s.issued {
		if !live[other] && (other == id || time.Since(since) > youth) {
			delete(s.issued, other)
			delete(h.ids, other)
			if !s.ended {
				gone = append(gone, other)
			}
		}
	}
	over := s.Name == "" && len(s.issued) == 0 && (id != "" || s.users == 0 && time.Since(s.since) > youth)
	h.mu.Unlock()
	for _, other := range gone {
		s.Forget(other)
	}
	if over {
		h.end(s)
	}
}

// Abandon ends s, which has no name, if it has come to no connection.
func (s *Session) Abandon() {
	for range s.Work().Bridge.Server().Sessions() {
		return
	}
	s.hub.end(s)
}

// Stop ends the calls of a session that is about to end.
func (s *Session) Stop() { s.Work().Bridge.Close() }

// End ends the session of the principal that [Hub.List] calls so, with its image, and reports
// whether there was one. What was kept of it stays on the disk.
func (h *Hub) End(principal, name string) bool {
	s := h.find(principal, name)
	if s == nil {
		return false
	}
	h.end(s)
	return true
}

// closeLimit is how long an image may take to end.
const closeLimit = 3 * time.Second

// end takes s out of the hub and ends what it works with.
func (h *Hub) end(s *Session) {
	h.mu.Lock()
	over := h.removeLocked(s)
	h.mu.Unlock()
	if over != nil {
		h.finish(s, over)
	}
}

// removeLocked takes s out of the hub. It returns what finish takes, or nil if that was done.
func (h *Hub) removeLocked(s *Session) (over *ending) {
	if s.ended {
		return nil
	}
	s.ended = true
	over = &ending{over: make(chan struct{})}
	if s.Name != "" {
		delete(h.named, s.ID)
		h.ending[s.ID] = over
	}
	delete(h.nameless, s)
	for id := range s.issued {
		delete(h.ids, id)
	}
	if h.owned[s.Principal]--; h.owned[s.Principal] == 0 {
		delete(h.owned, s.Principal)
	}
	h.counts.Ended++
	h.changeLocked()
	return over
}

// finish ends what s, which was taken out of the hub, works with.
func (h *Hub) finish(s *Session, over *ending) {
	s.close()
	if s.lease != nil {
		s.lease.Release()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.ending, s.ID)
	close(over.over)
	if s.awake { // until here its image was there
		s.awake = false
		h.awake--
	}
	h.changeLocked()
}

// close ends what s works with.
func (s *Session) close() { s.endWork(s.settled()) }

// endWork ends w, what s works with: the calls, then the image, which may be saved before.
func (s *Session) endWork(w *Work) {
	if w == nil {
		return
	}
	w.Bridge.Leave()
	s.answered()
	for c := range w.Bridge.Server().Sessions() { // else they stay until their time is up
		_ = c.Close()
	}
	if w.Ending != nil {
		w.Ending()
	}
	if s.lost() == nil {
		w.Image.SaveAtEnd()
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	if err := w.Image.Close(ctx); err != nil {
		s.log.Warn("closing the image", "err", err)
	}
	w.Kept.Close()
	if w.Ended != nil {
		w.Ended()
	}
	s.log.Info("the session ended")
}

// answerTime is how long calls that were ended may take to be answered.
const answerTime = 2 * time.Second

// answered waits until the calls that were ended are.
func (s *Session) answered() {
	late := time.After(answerTime)
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for s.users > 0 {
		changed := s.hub.changes()
		s.hub.mu.Unlock()
		select {
		case <-changed:
			s.hub.mu.Lock()
		case <-late:
			s.hub.mu.Lock()
			return
		}
	}
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
	defer time.AfterFunc(closeLimit, h.tooLate).Stop()
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
