package lisp

import (
	"context"
	"fmt"
	"maps"
	"time"

	"swank-mcp/swank/lisp/kept"
)

// autosaveIdle is how long nothing is asked of an image before it is saved to the disk by
// itself.
const autosaveIdle = 10 * time.Minute

// autosaveLimit bounds saving at the end: whoever started the server waits for it.
const autosaveLimit = time.Minute

var errEndLimit = fmt.Errorf("it takes longer than the %v that the end of a server may take", autosaveLimit)

// autosaves saves the image by itself when nothing was done for a while, until it is
// closed. What could not be saved is tried again when something was done since, and told
// once.
func (im *Image) autosaves(idle time.Duration) {
	var tried time.Time
	said := ""
	for {
		wait := idle
		used := im.timeline.lastUsed()
		if !used.IsZero() && !used.Equal(tried) {
			wait = time.Until(used.Add(idle))
		}
		if wait <= 0 {
			tried = used
			text := ""
			if err := im.autosave(im.ctx, false); err != nil && im.ctx.Err() == nil {
				text = "The work was not saved to the disk" + err.Error() + "."
			}
			if text != "" && text != said {
				im.disk.say(text)
			}
			said = text
			wait = idle
		}
		select {
		case <-im.ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// autosave saves the image as it is now to the disk, or where no checkpoint can be taken
// now the newest there is; nothing if that was saved. The error is the end of a sentence
// that says that the work was not saved: how much of it, and why.
func (im *Image) autosave(ctx context.Context, urgent bool) error {
	if im.timeline.now() == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, saveLimit)
	defer cancel()
	c, err := im.newest(ctx, urgent)
	return im.saveNewest(ctx, c, err, urgent)
}

// saveNewest saves c, the newest checkpoint or nil, unless that was saved; err is why there is
// none of the image as it is now. Its own error is as that of autosave.
func (im *Image) saveNewest(ctx context.Context, c *checkpoint, err error, urgent bool) error {
	if c != nil && !im.onDisk(c) {
		core, source := im.coreOf(c, im.autoName(c.taken), "")
		core.Auto = true
		if failed := im.save(ctx, c, core, source, urgent); failed != nil {
			return fmt.Errorf(": %w", failed)
		}
	}
	switch {
	case err == nil:
		return nil
	case c != nil:
		return fmt.Errorf(", but for what there was at %s: %w", clock(c.taken), err)
	}
	return fmt.Errorf(": %w", err)
}

// autoName returns a name that no core has for one as of t. That of t is taken when the image
// is again as it was when it was saved before, and by another one of that second.
func (im *Image) autoName(t time.Time) string {
	for {
		name := kept.AutoName(t)
		if _, err := im.disk.cores.Find(name); err != nil {
			return name
		}
		t = t.Add(time.Second)
	}
}

// onDisk reports whether the image as it was at c is on the disk.
func (im *Image) onDisk(c *checkpoint) bool {
	d := &im.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.saved == c {
		return true
	}
	return d.from != nil && c.at == 1 && c.after == resumeTitle(d.from.Name) && maps.Equal(c.Behind, d.from.Behind)
}

// newest returns a checkpoint of the image as it is now, or where that cannot be taken,
// and why, the newest there is. It gives way to jobs that run, unless it is urgent: then it
// waits for their end and for what else is in the way, and leaves half of the time that ctx
// gives for saving.
func (im *Image) newest(ctx context.Context, urgent bool) (*checkpoint, error) {
	limit := saveLimit
	if deadline, ok := ctx.Deadline(); ok {
		limit = time.Until(deadline) / 2
	}
	var err error
	if urgent {
		err = im.stopWork(ctx, limit)
	} else {
		err = im.stopIdleWork(ctx)
	}
	if err == nil {
		defer im.working.unlock()
		var c *checkpoint
		if c, err = im.current(ctx, "", limit); err == nil {
			return c, nil
		}
	}
	return im.timeline.before(im.timeline.now()), err
}

// SaveAtEnd waits for the checkpoints that are being saved to the disk, and saves the image
// there where [Config] wants that, in no more than some minute. It is called before
// Close.
func (im *Image) SaveAtEnd() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), autosaveLimit, errEndLimit)
	defer cancel()
	im.disk.await(ctx)
	if !im.cfg.Autosave {
		return
	}
	if err := im.autosave(ctx, true); err != nil {
		im.log.Warn("the work was not saved to the disk" + err.Error())
	}
}

// await waits until no checkpoint is being saved that somebody has asked for, or ctx ends.
func (d *disk) await(ctx context.Context) {
	for {
		d.mu.Lock()
		var one *saving
		for _, this := range d.saving {
			one = this
		}
		d.mu.Unlock()
		if one == nil {
			return
		}
		select {
		case <-one.done:
		case <-ctx.Done():
			return
		}
	}
}
