package lisp

import (
	"context"
	"errors"

	"swank-mcp/swank/lisp/helper"
)

// PausedText says for what a call waits that would begin while the image is paused.
const PausedText = "paused by the person; (swank-mcp:resume) or `swank-mcp resume` lets it go on"

// errPaused is the end of an evaluation that the image has refused: a person had paused it
// a moment before, and the bridge did not know.
var errPaused = errors.New("lisp: the image is paused")

// Pause has calls that would evaluate wait, in all sessions and without a limit, because a
// person wants that. Evaluations that run go on, and look-ups are answered. It holds also
// for images that start later. Other bridges in an attached image pause, too. The error is
// always nil at present: an image that does not answer is paused here all the same.
func (im *Image) Pause(ctx context.Context) error { return im.pauseAll(ctx, true) }

// Resume lets the calls go on that wait because of [Image.Pause], or of the helper's
// function of that name. The error is that of Pause.
func (im *Image) Resume(ctx context.Context) error { return im.pauseAll(ctx, false) }

// Paused reports whether calls that would begin wait.
func (im *Image) Paused() bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.paused
}

func (im *Image) pauseAll(ctx context.Context, on bool) error {
	im.setPaused(on)
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil || inst.over() || inst.single { // one that is single would not hear of it
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	c := helper.NewCall("NOTE-PAUSE")
	if on {
		c.Yes()
	} else {
		c.No()
	}
	_, _ = inst.ask(ctx, c) // the state here is what counts
	return nil
}

func (im *Image) setPaused(on bool) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.pauseLocked(on)
}

// pauseLocked is setPaused for who holds im.mu. It does not block: the reader of the
// connection calls it.
func (im *Image) pauseLocked(on bool) {
	if im.paused == on {
		return
	}
	im.paused = on && !im.closed
	ev := Event{Kind: EventResumed}
	for _, s := range im.sessions {
		if im.paused {
			s.pause()
		} else {
			s.resume()
		}
	}
	if im.paused {
		ev.Kind = EventPaused
	}
	im.events.publish(ev)
}

// awaitResume waits, for the holder of the turn, until the session is not paused any more.
// The error is the cause of ctx, or ErrClosed.
func (s *Session) awaitResume(ctx context.Context) error {
	paused := s.paused()
	if paused == nil {
		return nil
	}
	select {
	case <-paused:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.im.ctx.Done():
		return ErrClosed
	}
}
