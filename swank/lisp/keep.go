package lisp

import (
	"context"
	"time"
)

// keepSessions writes what is not kept yet, at the end.
func (im *Image) keepSessions(ctx context.Context) {
	im.mu.Lock()
	var sessions []*session
	for _, s := range im.sessions {
		sessions = append(sessions, s)
	}
	im.mu.Unlock()
	for _, s := range sessions {
		if s.take(ctx, &turn{code: "keep the session", limit: time.Second / 2}) == nil {
			im.cfg.Kept.Keep(&s.journal, false, true)
			s.done()
		}
	}
}
