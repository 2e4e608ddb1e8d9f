package lisp

import (
	"context"
	"strconv"
)

// becauseIdle is why an image ends by [Image.Hibernate].
const becauseIdle = "it was put away while nobody used it"

// Hibernate ends an image of ours that nobody uses, with its checkpoints, and keeps its
// sessions: the next call starts another image, into which what they have defined is
// brought back. With Autosave in [Config] the image is saved to the disk before, and the
// next one goes on from there with all values, if that could be done.
//
// It does nothing where no image runs. The error is an *ObstacleError while something is
// evaluated, starts or is suspended, for an image that is attached, and when ctx ends while it
// is saved.
func (im *Image) Hibernate(ctx context.Context) error {
	if !im.cfg.Attach.IsZero() {
		return &ObstacleError{Why: "the image is a person's", Never: true}
	}
	im.mu.Lock()
	inst, starting := im.cur, im.start != nil
	im.mu.Unlock()
	if inst == nil && !starting {
		im.endLine()
		im.timeline.clear()
		return nil
	}
	saved := false
	for _, s := range im.known() {
		s.keep(ctx)
	}
	if im.cfg.Autosave && !starting && im.inUse() == nil {
		err := im.autosave(ctx, false)
		switch {
		case ctx.Err() != nil: // it may be saved yet, with more time
			return &ObstacleError{Why: "it was not saved to the disk in the time that there was", Passing: true}
		case err != nil:
			im.disk.say("The work was not saved to the disk" + err.Error() + ".")
		}
		saved = err == nil
	}
	if err := im.stopIdleWork(ctx); err != nil {
		return err
	}
	defer im.working.unlock()
	if err := im.inUse(); err != nil {
		return err
	}
	return im.putAway(becauseIdle, saved)
}

// putAway ends the image, and says why by because; saved says that the next one goes on from the
// disk. The caller has im.working alone. Where no image runs, there is nothing to do.
func (im *Image) putAway(because string, saved bool) error {
	im.mu.Lock()
	inst := im.cur
	if im.start != nil || im.closed {
		im.mu.Unlock()
		return &ObstacleError{Why: "the image starts or ends", Passing: true}
	}
	if inst == nil {
		im.mu.Unlock()
		im.endLine()
		im.timeline.clear()
		return nil
	}
	inst.mu.Lock()
	inst.because, inst.putAway = because, true
	inst.mu.Unlock()
	im.cur, im.lastEnd = nil, because
	im.mu.Unlock()
	im.disk.goOn(saved)
	inst.end()
	im.endLine()
	im.timeline.clear()
	im.events.publish(Event{Kind: EventImageEnded, Text: because, PID: inst.proc.PID()})
	return nil
}

// inUse says what would be lost if the image ended now, nil if nothing is under way.
func (im *Image) inUse() error {
	if im.jobsRun() {
		return &ObstacleError{Why: "an evaluation runs in the background", Passing: true}
	}
	for _, s := range im.known() {
		if running, waiting := s.running(); running != nil || waiting > 0 {
			return &ObstacleError{Why: "session " + strconv.Quote(s.name) + " evaluates", Passing: true}
		}
		if len(s.suspended.all()) > 0 {
			return &ObstacleError{Why: "an evaluation is suspended in the debugger", Passing: true}
		}
	}
	if im.disk.busy() {
		return &ObstacleError{Why: "a checkpoint is being saved to the disk", Passing: true}
	}
	return nil
}

// InUse reports whether something would be lost if the image ended now: an evaluation, also
// in the background, or one in the debugger.
func (im *Image) InUse() bool { return im.inUse() != nil }

// goOn says whether the next image is to go on from the newest core; else it is to begin
// without any.
func (d *disk) goOn(newest bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.from, d.last, d.unused, d.tried = nil, nil, 0, !newest
}

// Runs reports whether an image runs or starts.
func (im *Image) Runs() bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.cur != nil || im.start != nil
}

// undone reports whether what inst has done is undone: it was taken back to a checkpoint.
func (inst *instance) undone() bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return inst.because == becauseUndone
}

// replaced reports whether inst has ended because somebody wanted that: another image has
// taken its place, or will when it is asked for.
func (inst *instance) replaced() bool {
	inst.mu.Lock()
	defer inst.mu.Unlock()
	return inst.putAway || inst.because == becauseUndone
}
