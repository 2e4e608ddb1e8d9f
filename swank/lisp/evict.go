package lisp

import (
	"context"
	"strconv"
	"time"
)

// Evict ends an image of ours although it is used, because its place is wanted: calls that run
// end by themselves before, and those that wait begin in the next image. Jobs are stopped, and
// what waits in the debugger is lost; both are told with the next reply. What sessions have
// defined stays, and with Autosave in [Config] all values, as with [Image.Hibernate].
//
// Whose says who wants the place and why, as what follows "it was put away for". Gone is called
// when the image has ended, before another one starts. The error is an *ObstacleError, ErrClosed, or
// the cause of ctx, which ends the waiting for calls alone.
func (im *Image) Evict(ctx context.Context, whose string, gone func()) error {
	if !im.cfg.Attach.IsZero() {
		return &ObstacleError{Why: "the image is a person's", Never: true}
	}
	if err := im.working.lock(ctx); err != nil {
		return err
	}
	defer im.working.unlock()
	im.hold(true)
	defer im.hold(false)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), autosaveLimit)
	defer cancel()
	defer context.AfterFunc(im.ctx, cancel)()
	if err := im.stopJobs(ctx, "Its image was put away for "+whose+"."); err != nil {
		return err
	}
	saved := im.saveEvicted(ctx)
	switch err := im.putAway("it was put away for "+whose, saved); {
	case err != nil:
		return err
	case im.ctx.Err() != nil:
		return ErrClosed
	}
	gone()
	return nil
}

// hold has an image that dies not be replaced by itself, until that is taken back.
func (im *Image) hold(held bool) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.held = held
}

// stopJobs ends the evaluations in the background, and waits for that: what cannot be stopped
// costs the image. Why is what their results say.
func (im *Image) stopJobs(ctx context.Context, why string) error {
	var all []*backgroundRun
	for _, s := range im.known() {
		all = append(all, s.background.running()...)
	}
	if len(all) > 0 {
		im.StopFor(why)
	}
	for _, b := range all {
		select {
		case <-b.done:
		case <-ctx.Done():
			return &ObstacleError{Why: "job-" + strconv.Itoa(b.number) + " has not ended yet", Passing: true}
		}
	}
	return nil
}

// saveEvicted saves the image to the disk, if that is wanted, and reports whether it did. The
// caller has im.working alone.
func (im *Image) saveEvicted(ctx context.Context) bool {
	if !im.cfg.Autosave || im.timeline.now() == 0 || !im.Runs() {
		return false
	}
	c, err := im.current(ctx, "", autosaveLimit/2)
	if err != nil {
		c = im.timeline.before(im.timeline.now())
	}
	if err = im.saveNewest(ctx, c, err, true); err != nil {
		im.disk.say("The work was not saved to the disk" + err.Error() + ".")
	}
	return err == nil
}

// CallsEnd returns the time by which the calls that run have reached their time limits; zero if
// none runs that has one. Jobs do not count.
func (im *Image) CallsEnd() (latest time.Time) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for e, h := range im.calls {
		if end := h.since.Add(e.r.Timeout); !e.r.Background && e.r.Timeout > 0 && end.After(latest) {
			latest = end
		}
	}
	return latest
}
