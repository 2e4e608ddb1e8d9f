package lisp

import (
	"context"
	"errors"
	"time"
)

// present returns a checkpoint of the image as it is now, which it takes if there is none;
// name is "" of one that needs none. The session is brought back before, if the image
// has died. The caller holds im.working.
func (s *Session) present(ctx context.Context, name string, limit time.Duration) (*checkpoint, error) {
	im := s.im
	if err := im.copied(); err != nil {
		return nil, err
	}
	for deaths := 0; ; {
		thread, err := s.prepare(ctx, limit)
		if err != nil {
			return nil, err
		}
		c, err := im.current(ctx, name, limit)
		if err == nil || !thread.inst.over() || ctx.Err() != nil {
			return c, err
		}
		if deaths++; deaths == 3 {
			return nil, err
		}
	}
}

// passingEnd is how long what is in the way of a checkpoint for a moment is waited for: on
// a busy machine threads that are to end, or the main thread, may have had no processor.
const passingEnd = 5 * time.Second

// current is present of the running image. It waits for the end of a look-up, which may
// take as long as queryTimeout.
func (im *Image) current(ctx context.Context, name string, limit time.Duration) (c *checkpoint, err error) {
	if c := im.timeline.before(im.timeline.now()); c != nil && c.at == im.timeline.now() && (name == "" || name == c.name) {
		return c, nil
	}
	for began := time.Now(); ; {
		c, err = im.takeCheckpoint(name, false)
		var obstacle *ObstacleError
		if !errors.As(err, &obstacle) || !obstacle.Passing || ctx.Err() != nil {
			return c, err
		}
		patience := passingEnd
		switch {
		case obstacle.asked:
			patience = queryTimeout
		case obstacle.job || len(obstacle.Threads) > 0: // which may go on for long
			patience = time.Second / 2
		}
		if time.Since(began) > min(limit, patience) {
			return c, err
		}
		time.Sleep(5 * time.Millisecond)
	}
}
