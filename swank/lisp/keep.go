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
	sessions := slices.Collect(maps.Values(im.sessions))
	im.mu.Unlock()
	for _, s := range sessions {
		if s.kept.Load() == nil {
			continue
		}
		// One that is busy is kept as it was after its last evaluation.
		_ = s.alone(ctx, "keep the session", time.Second/2, func() error {
			s.kept.Load().Keep(&s.journal, false, true)
			return nil
		})
	}
}
