package lisp

import (
	"context"
	"sync/atomic"

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
	kept      atomic.Pointer[kept.File]

	where atomic.Pointer[instance] // as home, for those without the turn

	// For the holder of the turn:
	home     *instance         // the image that has the session's state; nil at first
	journal  journal.Journal   // what it has defined
	recovery *restore.Recovery // while that is brought back into another image
	notes    []string          // for the next result
	resets   []*reset          // that have not been answered
	left     []*evaluation     // that were given up because the image was silent
	fault    string            // beginning of the code whose answer was the first that made no sense
}

// Session returns the session of that name, which comes into being by being named.
func (im *Image) Session(name string) *Session {
	im.mu.Lock()
	defer im.mu.Unlock()
	s := im.sessions[name]
	if s == nil {
		s = &Session{im: im, name: name}
		im.sessions[name] = s
	}
	return s
}

// KeepIn has the session kept in a file for the next server, as it grows.
func (s *Session) KeepIn(f *kept.File) { s.kept.Store(f) }

// Close gives up what the session has in the bridge and in the image: its evaluations,
// suspended ones too, its thread, its objects under inspection and its traces. What it
// has defined stays there and is nobody's. Jobs of the session in flight have to be
// cancelled before, and none may follow. The error is that of an image that does not
// answer, or the cause of ctx.
func (s *Session) Close(ctx context.Context) error {
	s.im.mu.Lock()
	if s.im.sessions[s.name] == s {
		delete(s.im.sessions, s.name)
	}
	inst := s.im.cur
	s.im.mu.Unlock()
	if inst == nil || inst.over() {
		return nil
	}
	inst.mu.Lock()
	l := inst.threads[s.name]
	inst.mu.Unlock()
	bounded, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	c := helper.NewCall("CLOSE-SESSION").Str(s.name)
	if l != nil && l.forget() && !inst.single { // there the thread is everybody's
		c.Num(int64(l.id))
	}
	_, err := inst.ask(bounded, c)
	return err
}
