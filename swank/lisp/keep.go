package lisp

import (
	"context"
	"maps"
	"slices"
	"time"
)

// keepSessions writes what is not kept yet, at the end.
func (im *Image) keepSessions(ctx context.Context) {
	im.mu.Lock()
	names := slices.Collect(maps.Keys(im.sessions))
	im.mu.Unlock()
	for _, name := range names {
		// One that is busy is kept as it was after its last evaluation.
		_ = im.alone(ctx, name, "keep the session", time.Second/2, func(s *session) error {
			im.cfg.Kept.Keep(&s.journal, false, true)
			return nil
		})
	}
}
