package lisp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/launch"
)

// beginAgain starts the first image, or the one that takes the place of the last: from the
// newest checkpoint, or anew.
func (im *Image) beginAgain(ctx context.Context) (*instance, error) {
	im.mu.Lock()
	last := im.line
	im.mu.Unlock()
	if last != nil {
		last.End() // its connection may be lost, and it goes on
		for failed := (*checkpoint)(nil); ; {
			c := im.timeline.before(im.timeline.now())
			if c == nil {
				break
			}
			inst, err := im.beginFrom(ctx, c)
			if err == nil {
				im.resumed(ctx, inst)
				im.setLine(inst)
				return inst, nil
			}
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			im.log.Warn("starting from a checkpoint", "err", err)
			if c.copy.Alive() && c != failed { // the machine may have had no time, or no memory
				failed = c
				continue
			}
			im.timeline.dropOne(c)
		}
		im.endLine()
	}
	im.timeline.clear()
	if im.resumes() {
		switch inst, err := im.beginFromDisk(ctx); {
		case err != nil:
			return nil, err
		case inst != nil:
			im.resumed(ctx, inst)
			im.setLine(inst)
			return inst, nil
		}
	}
	inst := im.takeAhead()
	if inst == nil {
		var err error
		if inst, err = begin(ctx, im.cfg, im.handle); err != nil {
			return nil, err
		}
	}
	if !inst.attached() {
		if err := im.tellPolicy(ctx, inst); err != nil {
			inst.end()
			return nil, err
		}
	}
	im.setLine(inst)
	return inst, nil
}

func (im *Image) setLine(inst *instance) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.line, _ = inst.proc.(*launch.Process)
}

// endLine ends the last image with all its copies.
func (im *Image) endLine() {
	im.mu.Lock()
	last := im.line
	im.line = nil
	im.mu.Unlock()
	if last != nil {
		last.Close(context.Background())
	}
}

// beginFrom starts an image that goes on from c. When nothing else has its ports any more,
// the caller calls resumed.
func (im *Image) beginFrom(ctx context.Context, c *checkpoint) (*instance, error) {
	p, err := c.copy.Start(ctx)
	if err != nil {
		return nil, err
	}
	inst := newInstance(p)
	inst.origin, inst.resumed = c, c.resumed
	inst.info = c.info
	inst.project.Store(c.project)
	err = inst.resume(ctx, im.cfg, im.handle)
	if err == nil {
		err = im.tellPolicy(ctx, inst) // what it has is as old as the checkpoint
	}
	if err != nil {
		inst.leave()
		return nil, err
	}
	return inst, nil
}

// resumed has inst, which goes on from a checkpoint or after one was taken, do what the
// program wants to be done then.
func (im *Image) resumed(ctx context.Context, inst *instance) {
	ctx, cancel := inst.within(ctx, copyTimeout)
	defer cancel()
	if err := inst.afterRestore(ctx, im.timeline.session()); err != nil {
		im.log.Warn("calling the functions of swank-mcp:*after-restore*", "err", err)
	}
}

// goneBack makes the session what it was at the checkpoint that its new image goes on
// from, and evaluates again what it has defined since. It returns what there is to say.
func (s *Session) goneBack(ctx context.Context, thread *sessionThread) (string, error) {
	c := thread.inst.origin
	back, since, err := s.again(ctx, thread, c.In(s.name))
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("It is as it was at %s, with all values.", c.taken.Format(time.TimeOnly)) + back
	if missed := s.im.timeline.between(c.at, s.im.timeline.now()); len(missed) > 0 {
		text += " Not evaluated again" + exceptDefinitions(since) + ": " + someTitles(missed) + "."
	}
	return text, nil
}

func exceptDefinitions(since *journal.Journal) string {
	if since.Empty() {
		return ""
	}
	return ", but for what they define"
}

// someTitles lists the first titles.
func someTitles(titles []string) string {
	const shown = 5
	more := ""
	if len(titles) > shown {
		more = fmt.Sprintf("; and %d more", len(titles)-shown)
		titles = titles[:shown]
	}
	return strings.Join(titles, "; ") + more
}

// Undone tells what an undo has done.
type Undone struct {
	To      Checkpoint // as which the image is now
	Undone  []string   // what was evaluated and is undone, by its beginning, or is done again
	Forward bool       // it was done again
	Aside   bool       // what led to To had been undone, and other things were done then
	Extra   int        // of these, so many more than was asked for: no checkpoint lies between
	Redo    string     // why it cannot be redone, or ""
	Took    time.Duration
}

// NoCheckpointError says that there is no checkpoint to go to.
type NoCheckpointError struct {
	Checkpoints []Checkpoint // those that there are
	To          string       // the name or number that none of them has, or ""
	Drop        bool         // To was to be ended
	Steps       int          // so many calls were to be undone, or done again if it is negative
}

func (e *NoCheckpointError) Error() string { return "lisp: there is no such checkpoint" }

// Undo takes the image back by that many steps, each of which is a call that may have
// changed it, or forward if steps is negative; or, if to is not "", to the checkpoint of
// that name or number. Where there is none in between, it goes back further. It is done in
// turn with the evaluations of the session. The error may be a *NoCheckpointError or an
// *ObstacleError.
func (s *Session) Undo(ctx context.Context, steps int, to string, timeout time.Duration) (u *Undone, err error) {
	err = s.exclusively(ctx, "undo", timeout, func() error {
		u, err = s.undo(ctx, steps, to, timeout, fmt.Sprintf("Another session (%s)", s.name))
		return err
	})
	return u, err
}

// undo is Undo for who holds im.working alone; who is told to the other sessions.
func (s *Session) undo(ctx context.Context, steps int, to string, limit time.Duration, who string) (u *Undone, err error) {
	began := time.Now()
	im, t := s.im, &s.im.timeline
	if _, _, err := im.checkpointed(); err != nil && !t.any() {
		return nil, err
	}
	for deaths := 0; ; {
		u = new(Undone)
		// The present is kept, so that it can be come back to.
		var obstacle *ObstacleError
		if _, err := s.present(ctx, "", limit); err != nil {
			u.Redo = err.Error()
			errors.As(err, &obstacle)
		}
		inst, err := im.acquire(ctx, limit)
		if err != nil {
			return nil, err
		}
		now := t.now()
		var c *checkpoint
		switch {
		case to != "":
			c = t.named(to)
		case steps < 0:
			c = t.after(now - steps)
		default:
			c = t.before(now - steps)
		}
		if c == nil {
			list, _ := s.Checkpoints()
			if len(list) == 0 && to == "" && obstacle != nil && len(obstacle.Threads) > 0 {
				return nil, obstacle // that is why there is none
			}
			return nil, &NoCheckpointError{Checkpoints: list, To: to, Steps: steps}
		}
		next, err := im.replace(ctx, inst, c)
		if err != nil {
			if deaths++; (inst.over() || !c.copy.Alive()) && deaths < 3 && ctx.Err() == nil {
				continue
			}
			return nil, err
		}
		switch {
		case c.aside:
			u.Aside = true
		case c.at < now:
			u.Undone = t.between(c.at, now)
		default:
			u.Undone, u.Forward = t.between(now, c.at), c.at > now
		}
		if to == "" {
			u.Extra = max(now-steps-c.at, c.at-(now-steps))
		}
		t.goTo(c, s.name)
		im.settle(next, c, s, who)
		u.To, u.Took = im.describe(c), time.Since(began)
		return u, nil
	}
}

// replace has an image that goes on from c take the place of inst.
func (im *Image) replace(ctx context.Context, inst *instance, c *checkpoint) (*instance, error) {
	next, err := im.beginFrom(ctx, c)
	if err != nil {
		return nil, err
	}
	im.mu.Lock()
	if im.closed || im.cur != inst {
		im.mu.Unlock()
		next.leave()
		return nil, errors.New("lisp: the image ended meanwhile")
	}
	im.cur = next
	im.holdPolicyLocked(next)
	im.line = next.proc.(*launch.Process)
	im.events.publish(Event{Kind: EventImageReplaced, PID: next.proc.PID()})
	im.work.Go(func() { im.watch(next) })
	im.mu.Unlock()
	inst.mu.Lock()
	inst.because = becauseUndone
	inst.mu.Unlock()
	inst.leave()
	im.resumed(ctx, next)
	return next, nil
}

// settle makes every session what it was at c, to which the session by has gone back; the
// others are told who it was. The caller holds im.working.
func (im *Image) settle(inst *instance, c *checkpoint, by *Session, who string) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for name, s := range im.sessions {
		home := s.home.Load()
		if home == nil {
			continue
		}
		s.journal = journal.Journal{}
		if then := c.Sessions[name]; then != nil {
			s.journal = *then.Clone()
		}
		s.kept.Load().Keep(&s.journal, true, true)
		if s != by {
			s.notes = append(s.notes, fmt.Sprintf("%s took the image back to %s.", who, c.taken.Format(time.TimeOnly)))
		}
		if lost := s.suspended.lost(home); lost != "" {
			s.notes = append(s.notes, strings.TrimSpace(lost))
		}
		s.recovery = nil
		if c.Behind[name] == nil { // else it is brought back when it is used
			s.home.Store(inst)
		}
	}
}
