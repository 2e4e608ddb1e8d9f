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

// After retryFirst, and then after twice the time before up to retryLast, it is tried again to
// take a checkpoint that something was in the way of for a moment.
const (
	retryFirst = 5 * time.Millisecond
	retryLast  = 100 * time.Millisecond
)

// current is present of the running image. What is in the way for a moment is waited for as
// long as limit, the caller's deadline, and ctx say; what may go on for long is told at once.
func (im *Image) current(ctx context.Context, name string, limit time.Duration) (c *checkpoint, err error) {
	if c := im.timeline.before(im.timeline.now()); c != nil && c.at == im.timeline.now() && (name == "" || name == c.name) {
		return c, nil
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for pause := retryFirst; ; pause = min(2*pause, retryLast) {
		c, err = im.takeCheckpoint(bounded, name, false)
		var obstacle *ObstacleError
		if !errors.As(err, &obstacle) || !obstacle.Passing || obstacle.job || len(obstacle.Threads) > 0 {
			return c, err
		}
		select {
		case <-bounded.Done():
			return c, err
		case <-time.After(pause):
		}
	}
}
