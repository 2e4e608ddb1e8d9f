package lisp

import (
	"context"
	"sync/atomic"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/restore"
)

// A Session is one of any number in an [Image]: a thread in which its evaluations run
// one at a time, in the order in which they came, a current package and variables of the
// reader, the printer and the REPL that are its own, and what counts as its definitions.
// That state is in the image; this is what the bridge keeps of it. Its methods may be
// called from any goroutine.
type Session struct {
	im   *Image
	name string
	turns
	suspended suspensions

	background backgrounds
	kept       atomic.Pointer[kept.File]
	keeping    atomic.Bool // a goroutine waits to keep what there was no time for
	closed     atomic.Bool
	evaluated  atomic.Int64 // jobs that images have seen
	seen       int          // how many of im.showns it has told of; im.mu guards it
	runs       testRuns

	home atomic.Pointer[instance] // the image that has the session's state; nil at first

	// For the holder of the turn:
	journal  journal.Journal   // what it has defined
	recovery *restore.Recovery // while that is brought back into another image
	notes    []string          // for the next result
	untold   []*backgroundRun  // that have ended, for it too
	resets   []*reset          // that have not been answered
	givenUp  []*evaluation     // that were given up because the image was silent
	unkept   string            // why the session is not kept, as a result has told
	fault    string            // beginning of the code whose answer was the first that made no sense
}

// Session returns the session of that name, which comes into being by being named.
func (im *Image) Session(name string) *Session {
	im.mu.Lock()
	defer im.mu.Unlock()
	s := im.sessions[name]
	if s == nil {
		s = &Session{im: im, name: name, seen: im.showns}
		if im.paused {
			s.pause()
		}
		im.sessions[name] = s
	}
	return s
}

// keepAgain is after what time it is tried again, where a job of a client had the turn.
const keepAgain = time.Second

// keep writes what is not kept yet. A session that is busy is kept as it was after its
// last evaluation. It is no job: who looks at the session does not hear of it.
func (s *Session) keep(ctx context.Context) {
	if s.kept.Load() == nil || s.closed.Load() {
		return
	}
	t := s.place(ctx, true)
	if s.waitIdle(ctx, t) != nil {
		s.keepLater(keepAgain)
		return
	}
	defer s.done()
	if s.im.joinWork(ctx, 0) != nil {
		s.keepLater(keepAgain)
		return
	}
	defer s.im.working.unshare()
	s.catchUp()
	s.kept.Load().Keep(&s.journal, false, true)
}

// keepLater keeps after that time what was not kept, though no evaluation may follow. It ends
// with the image, which keeps all when it is closed.
func (s *Session) keepLater(after time.Duration) {
	if !s.keeping.CompareAndSwap(false, true) {
		return
	}
	s.im.untilClosed(func() {
		select {
		case <-s.im.ctx.Done():
			return
		case <-time.After(after):
		}
		s.keeping.Store(false)
		s.keep(s.im.ctx)
	})
}

// KeepIn has the session kept in a file for the next server, as it grows.
func (s *Session) KeepIn(f *kept.File) { s.kept.Store(f) }

// Close gives up what the session has in the bridge and in the image: its evaluations,
// suspended ones too, its thread, its objects under inspection and its traces. What it
// has defined stays in the image and belongs to no session; it goes when a session that
// is then the only one is reset.
// Jobs of the session in flight have to be cancelled before; those that follow end with
// ErrClosed. The error is that of an image that does not answer, or the cause of ctx.
func (s *Session) Close(ctx context.Context) error {
	s.keep(ctx)
	s.closed.Store(true)
	s.im.mu.Lock()
	inst := s.im.cur
	s.im.mu.Unlock()
	bounded, cancel := inst.forAnswer(ctx)
	defer cancel()
	s.endJobs(bounded, ErrClosed)
	s.im.mu.Lock()
	if s.im.sessions[s.name] == s {
		delete(s.im.sessions, s.name)
	}
	s.im.mu.Unlock()
	if inst == nil || inst.over() {
		return nil
	}
	if err := s.im.joinWork(bounded, answerLimit); err != nil { // a checkpoint gives the threads other numbers
		return err
	}
	defer s.im.working.unshare()
	inst.mu.Lock()
	thread := inst.threads[s.name]
	inst.mu.Unlock()
	c := helper.NewCall("CLOSE-SESSION").Str(s.name)
	if thread != nil && thread.forget() && !inst.single { // there all sessions have one thread
		c.Num(int64(thread.id))
	}
	_, err := inst.askQuery(bounded, c)
	return err
}
