package hub

import "context"

// made returns s when it has what it works with, or an error when ctx ends: others may go on
// waiting for it then.
func (h *Hub) made(ctx context.Context, s *Session, err error) (*Session, error) {
	if err != nil {
		return nil, err
	}
	s.making.Do(func() { go s.make() })
	select {
	case <-s.made:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-h.ctx.Done():
		return nil, ErrClosed
	}
	if s.notMade != nil {
		h.end(s)
		return nil, s.notMade
	}
	return s, nil
}

// make makes what s works with. That may take long, or for ever where a disk stands still, so
// nothing that is done for all sessions waits for it.
func (s *Session) make() {
	h := s.hub
	w, err := h.o.Make(s.ID, s.newID)
	if err == nil && h.o.Made != nil {
		h.o.Made(w)
	}
	if err == nil {
		w.Image.Own(owner{s})
	}
	if err == nil && s.lease != nil {
		w.Bridge.Server().AddReceivingMiddleware(s.certain)
	}
	if s.notMade = err; err == nil {
		s.work.Store(w)
	}
	close(s.made)
	if err != nil {
		h.end(s) // also where nobody waits any more
	}
}

// settled waits until s has been made and returns what it works with; nil is nothing. A hub that
// is being closed waits for a while only: what comes of the making then is ended when it is there.
func (s *Session) settled() *Work {
	select {
	case <-s.made:
		return s.work.Load()
	default:
	}
	select {
	case <-s.made:
		return s.work.Load()
	case <-s.hub.late.Done():
	}
	s.log.Warn("the session is still being made, and is not waited for")
	go func() {
		<-s.made
		s.endWork(s.work.Load())
	}()
	return nil
}
