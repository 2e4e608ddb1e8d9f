package lisp

import (
	"context"
	"errors"
	"time"

	"swank-mcp/swank/lisp/host"
)

// apartLimit is for how long at least, of the time in which the image could act, a job waits for
// what needs it without any job: a checkpoint takes some hundredths of a second, but the
// program may want something done before and after it.
const apartLimit = 5 * time.Second

var errWaited = errors.New("lisp: it has waited long enough")

// joinWork shares im.working, and waits for that as long as limit or apartLimit say. The error
// is a *BusyError or the cause of ctx.
func (im *Image) joinWork(ctx context.Context, limit time.Duration) error {
	if im.working.tryShare() {
		return nil
	}
	began := time.Now()
	bounded, cancel := host.Within(ctx, im.process(), max(limit, apartLimit), errWaited)
	defer cancel()
	err := im.working.share(bounded)
	if errors.Is(err, errWaited) {
		waited := time.Since(began)
		return &BusyError{Waited: waited, Age: waited, Code: "a checkpoint, an undo or a trial, for which no code may run in the image"}
	}
	return err
}

// process returns that of the image that runs, 0 if none does or it is not known.
func (im *Image) process() int {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.cur == nil {
		return 0
	}
	return im.cur.pid()
}

// stopWork locks im.working when no job runs any more. The error is an *ObstacleError when that
// takes longer than limit, the caller's deadline, or the cause of ctx.
func (im *Image) stopWork(ctx context.Context, limit time.Duration) error {
	bounded, cancel := context.WithTimeoutCause(ctx, limit, errWaited)
	defer cancel()
	return im.whyWorking(im.working.lock(bounded))
}

// stopIdleWork is stopWork for what nobody has asked for: it gives way to jobs.
func (im *Image) stopIdleWork(ctx context.Context) error {
	return im.whyWorking(im.working.lockUnlessShared(ctx))
}

// whyWorking says why im.working was not had.
func (im *Image) whyWorking(err error) error {
	switch shared := im.working.shared(); {
	case errors.Is(err, errShared), shared && errors.Is(err, errWaited):
		return &ObstacleError{Why: "another session evaluates", Passing: true}
	case errors.Is(err, errWaited):
		return &ObstacleError{Why: "a checkpoint, an undo or a trial is under way", Passing: true}
	}
	return err
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
		defer s.im.working.unlock()
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
		s.im.working.unshare()
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
