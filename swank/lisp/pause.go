package lisp

import (
	"context"
	"errors"
	"time"

	"swank-mcp/swank/lisp/helper"
)

// PausedText says for what a call waits that would begin while the image is paused.
const PausedText = "paused by the person; (swank-mcp:resume) or `swank-mcp resume` lets it go on"

// errPaused is the end of an evaluation that the image has refused because a person had
// paused it. The image's message of that is under way, or has come and was followed by the
// one of the resumption: only messages, which come in order, say which.
var errPaused = errors.New("lisp: the image is paused")

// pauseRetry is after how long an evaluation is sent again that was refused with errPaused
// and no message of the pause has come: an image without threads sends none.
const pauseRetry = 20 * time.Millisecond

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
	im.mu.Lock()
	im.pauseLocked(on)
	inst := im.cur
	none := inst == nil || inst.over()
	im.unheard = none
	im.mu.Unlock()
	if !none {
		im.tellPause(ctx, inst, on)
	}
	return nil
}

// tellPause tells inst, for other bridges and those that come later. What is known here
// counts for this one: the error is of no use.
func (im *Image) tellPause(ctx context.Context, inst *instance, on bool) {
	if inst.single { // it would not hear of it
		return
	}
	ctx, cancel := inst.forAnswer(ctx)
	defer cancel()
	c := helper.NewCall("NOTE-PAUSE")
	if on {
		c.Yes()
	} else {
		c.No()
	}
	_, _ = inst.ask(ctx, c)
}

// holdPauseLocked sees to it that inst, which is the image now and was paused or not when we
// came, and this bridge are of one mind: what was said here while there was none counts. The
// caller holds im.mu.
func (im *Image) holdPauseLocked(inst *instance, paused bool) {
	switch {
	case im.unheard:
		on := im.paused
		im.work.Go(func() { im.tellPause(im.ctx, inst, on) })
	case paused:
		im.pauseLocked(true)
	}
	im.unheard = false
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

// awaitResume waits, for the holder of the turn, until an evaluation that was refused with
// errPaused is to be sent again. The error is the cause of ctx, or ErrClosed.
func (s *Session) awaitResume(ctx context.Context) error {
	var retry <-chan time.Time
	paused := s.paused()
	if paused == nil {
		retry = time.After(pauseRetry)
	}
	select {
	case <-paused:
		return nil
	case <-retry:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.im.ctx.Done():
		return ErrClosed
	}
}
