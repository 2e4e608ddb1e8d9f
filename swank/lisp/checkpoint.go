package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/launch"
)

// idleTime is how long nothing is asked of an image before a checkpoint is taken of it by
// itself.
const idleTime = 200 * time.Millisecond

// hooksShare is how much longer than a checkpoint for which functions of the program's
// were called, or than one that failed, the time is in which no other is taken by itself.
const hooksShare = 20

// ObstacleError says why there is no checkpoint of an image now.
type ObstacleError struct {
	Why     string   // "threads of the program are running"
	Threads []string // their names, if these are the reason
	Never   bool     // of this image there is none at any time
	Passing bool     // it may be gone in a moment

	hooks bool // the program's functions were called for it
	job   bool // work in the background is in the way
}

func (e *ObstacleError) Error() string {
	if len(e.Threads) == 0 {
		return e.Why
	}
	return e.Why + ": " + listThreads(e.Threads)
}

// listThreads lists each name once, with the number of threads that have it, and the
// first few only.
func listThreads(all []string) string {
	const shown = 5
	var names []string
	number := map[string]int{}
	for _, name := range all {
		if number[name]++; number[name] == 1 {
			names = append(names, name)
		}
	}
	more := ""
	if len(names) > shown {
		more = fmt.Sprintf(" and %d more", len(names)-shown)
		names = names[:shown]
	}
	for i, name := range names {
		if number[name] > 1 {
			names[i] = fmt.Sprintf("%s (%d)", name, number[name])
		}
	}
	return strings.Join(names, ", ") + more
}

// wireCheckpoint is the answer of the helper's CHECKPOINT.
type wireCheckpoint struct {
	Taken   int64    `sexp:"taken"`
	PID     int      `sexp:"pid"` // of the copy; 0: it is not known
	Refused string   `sexp:"refused"`
	Names   []string `sexp:"names"`
	Busy    bool     `sexp:"busy"`
	Restore bool     `sexp:"restore"` // AFTER-RESTORE is to be called
	Threads []struct {
		_        struct{} `sexp:",list"`
		Old, New swank.ThreadID
	} `sexp:"threads"` // those that served us, and those that do now
}

// checkpointed returns the process of the running image if checkpoints of it can be taken.
func (im *Image) checkpointed() (*instance, *launch.Process, error) {
	if err := im.copied(); err != nil {
		return nil, nil, err
	}
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst == nil || inst.over() {
		return nil, nil, &ObstacleError{Why: "no image runs", Passing: true}
	}
	if why := im.timeline.forbidden(); why != "" {
		return nil, nil, &ObstacleError{Why: why, Never: true}
	}
	p := inst.proc.(*launch.Process) // every image that is launched
	return inst, p, nil
}

// copied says why checkpoints of the image are never taken; nil if they are.
func (im *Image) copied() error {
	switch {
	case !im.cfg.Attach.IsZero():
		return &ObstacleError{Why: "the image is a person's, and a copy would not have its threads", Never: true}
	case !launch.CanCopy:
		return &ObstacleError{Why: "this system cannot copy a process", Never: true}
	case im.cfg.NoRecovery:
		return &ObstacleError{Why: "checkpoints are off (--no-recovery)", Never: true}
	case im.cfg.NoCheckpoints:
		return &ObstacleError{Why: "checkpoints are off (--no-checkpoints)", Never: true}
	}
	return nil
}

// takeCheckpoint takes one for the holder of im.working, who lets no job run. byItself
// says that nobody has asked for it: then it gives way to look-ups, for whose end it waits
// otherwise until ctx ends.
func (im *Image) takeCheckpoint(ctx context.Context, name string, byItself bool) (*checkpoint, error) {
	inst, p, err := im.checkpointed()
	if err != nil {
		return nil, err
	}
	if im.jobsRun() { // an answer of theirs could be on its way, and be lost
		return nil, &ObstacleError{Why: "an evaluation runs in the background", Passing: true, job: true}
	}
	asked := &ObstacleError{Why: "something is asked of the image", Passing: true}
	if byItself {
		if !inst.asking.tryLock() {
			return nil, asked
		}
	} else if inst.asking.lock(ctx) != nil {
		return nil, asked
	}
	defer inst.asking.unlock()
	began := time.Now()
	hooked := false
	// A caller who goes in the middle would leave an image of which it is not known how it is.
	copy, err := p.Copy(im.ctx, func(address string, number int) (pid int, err error) {
		call := helper.NewCall("CHECKPOINT").Str(address).Num(int64(number)).Key("SESSION").Str(im.timeline.session())
		if byItself {
			call.Key("BY-ITSELF").Yes()
		}
		pid, hooked, err = inst.copyTo(im.ctx, call)
		if hooked {
			im.resumed(im.ctx, inst)
		}
		return pid, err
	})
	if hooked || err != nil {
		im.timeline.rest(hooksShare * time.Since(began))
	}
	if err != nil {
		var obstacle *ObstacleError
		switch {
		case im.ctx.Err() != nil, inst.over():
		case errors.Is(err, launch.ErrNoCall):
			err = im.timeline.noCall(err)
		case !errors.As(err, &obstacle): // the image serves: it has none to give
			err = &ObstacleError{Why: err.Error()}
		}
		return nil, err
	}
	c := &checkpoint{
		name: name, taken: time.Now(), pause: time.Since(began), copy: copy,
		Work: im.defined(inst), project: inst.project.Load(), info: inst.info, resumed: inst.resumed,
	}
	im.timeline.add(c)
	im.events.publish(Event{Kind: EventCheckpoint, Text: name, PID: copy.PID(), Elapsed: c.pause})
	return c, nil
}

// copyTo has the image make a copy of itself, by call, and returns its process, 0 if that is not
// known, and whether the program wants functions to be called afterwards. inst.asking is
// locked: our threads in the image end meanwhile, and others serve us afterwards.
func (inst *instance) copyTo(ctx context.Context, call *helper.Call) (pid int, hooked bool, err error) {
	answer, err := inst.answerOfCopied(ctx, call)
	var w wireCheckpoint
	if err == nil {
		err = helper.Decode(answer, &w)
	}
	if err != nil {
		return 0, false, err
	}
	renamed := map[swank.ThreadID]swank.ThreadID{}
	for _, t := range w.Threads {
		renamed[t.Old] = t.New
	}
	now := func(id swank.ThreadID) swank.ThreadID {
		if now, ok := renamed[id]; ok {
			delete(renamed, id)
			return now
		}
		return id
	}
	inst.mu.Lock()
	inst.control = now(inst.control)
	for _, t := range inst.threads {
		t.id = now(t.id)
	}
	inst.mu.Unlock()
	inst.query.thread.Store(int64(now(swank.ThreadID(inst.query.thread.Load()))))
	for _, id := range renamed { // one that was just ending
		_, _ = helper.NewCall("RELEASE-THREAD").Num(int64(id)).Send(inst.conn, inst.controlThread())
	}
	switch {
	case w.Refused == "":
		return w.PID, w.Restore, nil
	case len(w.Names) > 0:
		err = &ObstacleError{Why: w.Refused, Threads: w.Names, Passing: w.Busy, hooks: w.Restore}
	case w.Busy:
		err = &ObstacleError{Why: w.Refused, Passing: true}
	default:
		err = &ObstacleError{Why: w.Refused}
	}
	return 0, w.Restore, err
}

// afterRestore has the image call the functions that the program wants to be called when
// it goes on after a checkpoint, for the session of that name. No other checkpoint of it is
// taken meanwhile.
func (inst *instance) afterRestore(ctx context.Context, session string) error {
	_, err := inst.askOn(ctx, inst.controlThread(), helper.NewCall("AFTER-RESTORE").Str(session))
	return err
}

// jobsRun reports whether anything is evaluated in the background.
func (im *Image) jobsRun() bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	for _, s := range im.sessions {
		if len(s.background.running()) > 0 {
			return true
		}
	}
	return false
}

// thinTime is how often keepTime looks at how much memory the checkpoints take: the more
// of its own an image changes, the more do its copies have of theirs.
var thinTime = 30 * time.Second

// keepTime takes checkpoints by itself, until the image is closed: when something was
// done and then nothing for a while.
func (im *Image) keepTime() {
	thinning := time.NewTicker(thinTime)
	defer thinning.Stop()
	for {
		select {
		case <-im.ctx.Done():
			return
		case <-thinning.C:
			im.thin()
			continue
		case <-im.timeline.added:
			im.thin()
			continue
		case <-im.timeline.stepped:
		}
		for {
			wait, due := im.timeline.due()
			if !due {
				break
			}
			if wait > 0 {
				select {
				case <-im.ctx.Done():
					return
				case <-thinning.C:
					im.thin()
				case <-im.timeline.added:
					im.thin()
				case <-time.After(wait):
				}
				continue
			}
			if !im.tryCheckpoint() {
				break
			}
		}
	}
}

// tryCheckpoint takes a checkpoint if it can, and reports whether it is worth while to
// try again without anything having been done.
func (im *Image) tryCheckpoint() (again bool) {
	if inst, _, err := im.checkpointed(); err != nil || inst.origin != nil && !inst.used.Load() {
		return false // it is as it was at a checkpoint
	}
	if wait := im.cfg.CopyShare.wait(); wait > 0 {
		im.timeline.rest(wait)
		return true
	}
	if !im.working.tryLock() {
		im.timeline.later()
		return true
	}
	began := time.Now()
	_, err := im.takeCheckpoint(im.ctx, "", true)
	im.cfg.CopyShare.spent(time.Since(began))
	im.working.unlock()
	im.noteObstacle(err)
	var obstacle *ObstacleError
	if !errors.As(err, &obstacle) {
		return false
	}
	if len(obstacle.Threads) > 0 && !obstacle.hooks { // one of a timer's has ended by then
		im.timeline.rest(threadsTime)
		return true
	}
	if obstacle.Passing {
		im.timeline.later()
	}
	return obstacle.Passing
}

// threadsTime is how long to wait after threads of the program have kept a checkpoint from
// being taken.
const threadsTime = 2 * time.Second

// noteObstacle notes what was in the way of a checkpoint.
func (im *Image) noteObstacle(err error) {
	var obstacle *ObstacleError
	switch {
	case err == nil:
	case errors.As(err, &obstacle):
		im.timeline.hinder(obstacle)
	case im.ctx.Err() == nil:
		im.log.Warn("taking a checkpoint", "err", err)
		im.timeline.hinder(&ObstacleError{Why: err.Error()})
	}
}

// thin makes room.
func (im *Image) thin() {
	if inst, _, err := im.checkpointed(); err == nil {
		im.timeline.thin(im.cfg.checkpointMemory(), inst.proc.PID())
	}
}

// ErrCheckpointExists is the error of a checkpoint whose name another one has.
var ErrCheckpointExists = errors.New("lisp: a checkpoint has that name")

// Checkpoint is a copy of an image as it was at one moment.
type Checkpoint struct {
	Number int
	Name   string // "" of one that was taken by itself
	Taken  time.Time
	After  string   // the beginning of what was evaluated before it, one line; "" if nothing was
	Since  []string // what was evaluated since then, in the same way
	Undone bool     // it is of what was undone since
}

// Checkpoints returns the checkpoints of the image, oldest first, and why the last one
// could not be taken, or nil.
func (s *Session) Checkpoints() (list []Checkpoint, obstacle *ObstacleError) {
	t := &s.im.timeline
	t.mu.Lock()
	usable, obstacle := t.usable(), t.obstacle
	t.mu.Unlock()
	for _, c := range usable {
		list = append(list, s.im.describe(c))
	}
	return list, obstacle
}

// still is what is left of the obstacle while those threads live, or nil.
func (e *ObstacleError) still(alive []Thread) *ObstacleError {
	if e == nil || len(e.Threads) == 0 {
		return e
	}
	there := slices.DeleteFunc(slices.Clone(e.Threads), func(name string) bool {
		return !slices.ContainsFunc(alive, func(t Thread) bool { return t.Name == name })
	})
	if len(there) == 0 {
		return nil
	}
	return &ObstacleError{Why: e.Why, Threads: there}
}

func (im *Image) describe(c *checkpoint) Checkpoint {
	now := im.timeline.now()
	im.timeline.mu.Lock()
	d := Checkpoint{Number: c.number, Name: c.name, Taken: c.taken, After: c.after, Undone: c.aside || c.at > now}
	im.timeline.mu.Unlock()
	if !d.Undone {
		d.Since = im.timeline.between(c.at, now)
	}
	return d
}

// TakeCheckpoint takes a checkpoint under a name, which must not be in use, in turn with
// the session's evaluations. The error may be an *ObstacleError.
func (s *Session) TakeCheckpoint(ctx context.Context, name string, timeout time.Duration) (d Checkpoint, err error) {
	err = s.exclusively(ctx, "checkpoint "+name, timeout, func() error {
		s.im.timeline.mu.Lock()
		taken := slices.ContainsFunc(s.im.timeline.usable(), func(c *checkpoint) bool { return c.name == name })
		s.im.timeline.mu.Unlock()
		if taken {
			return ErrCheckpointExists
		}
		c, err := s.present(ctx, name, timeout)
		if err == nil {
			d = s.im.describe(c)
		}
		s.im.noteObstacle(err)
		return err
	})
	return d, err
}

// DropCheckpoint ends the checkpoint of that name or number, also that of the name on the
// disk, and reports whether there was one.
func (s *Session) DropCheckpoint(name string) bool {
	onDisk := s.im.disk.drop(name) // before the copy ends that is being saved
	c := s.im.timeline.named(name)
	if c != nil {
		s.im.timeline.dropOne(c)
	}
	return onDisk || c != nil
}
