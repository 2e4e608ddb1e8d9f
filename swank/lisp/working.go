package lisp

import (
	"context"
	"time"
)

// apartLimit is how long a job waits at least for what needs the image without any job: a
// checkpoint takes some hundredths of a second, but the program may want something done
// before and after it.
const apartLimit = 5 * time.Second

// joinWork locks im.working for reading, and waits for that as long as limit or apartLimit
// say. The error is a *BusyError or the cause of ctx.
func (im *Image) joinWork(ctx context.Context, limit time.Duration) error {
	limit = max(limit, apartLimit)
	for began := time.Now(); !im.working.TryRLock(); {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Millisecond):
		}
		if waited := time.Since(began); waited > limit {
			return &BusyError{Waited: waited, Age: waited, Code: "a checkpoint, an undo or a trial, for which no code may run in the image"}
		}
	}
	return nil
}

// stopWork locks im.working when no job runs any more.
func (im *Image) stopWork(ctx context.Context, limit time.Duration) error {
	over := time.After(limit)
	for !im.working.TryLock() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-over:
			return &ObstacleError{Why: "another session evaluates", Passing: true}
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// exclusively does work in the turn of the session while no job of any session runs,
// after waiting for that as long as limit says.
func (s *Session) exclusively(ctx context.Context, title string, limit time.Duration, work func() error) error {
	return s.exclusive(ctx, &job{title: title, number: s.im.jobs.Add(1)}, limit, work)
}

func (s *Session) exclusive(ctx context.Context, j *job, limit time.Duration, work func() error) error {
	_, err := s.inTurn(ctx, j, limit, func() (*Result, error) {
		if err := s.workApart(ctx, limit); err != nil {
			return nil, err
		}
		defer s.im.working.Unlock()
		s.begun(j)
		return nil, work()
	})
	return err
}

// workApart is stopWork for the holder of the turn. What may take long is done before, while
// other sessions work: bringing the session back when its image has died.
func (s *Session) workApart(ctx context.Context, limit time.Duration) error {
	if !s.isBack() {
		if err := s.im.joinWork(ctx, limit); err != nil {
			return err
		}
		_, _ = s.prepare(ctx, limit) // whoever needs it tries again, and learns why it fails
		s.im.working.RUnlock()
	}
	return s.im.stopWork(ctx, limit)
}

// isBack reports whether the image that runs is the one that the session was in last, or
// there was none.
func (s *Session) isBack() bool {
	s.im.mu.Lock()
	cur := s.im.cur
	s.im.mu.Unlock()
	home := s.home.Load()
	return home == nil || home == cur && !home.over()
}
