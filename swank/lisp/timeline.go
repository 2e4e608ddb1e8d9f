package lisp

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"swank-mcp/swank"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
	"swank-mcp/swank/lisp/project"
)

// A timeline is what was done in an image that we started, step by step, and the
// checkpoints of it: copies of the image as it was after a step. A step is a job that may
// have changed the image; one that only looks is none. The image is at the last step, unless steps were undone: then
// those behind its place can be redone until another step is made.
type timeline struct {
	mu          sync.Mutex
	steps       []step // all, or the newest of them
	first       int    // number of steps[0], if there is one
	at          int    // number of the step after which the image is now; 0 is its beginning
	checkpoints []*checkpoint
	taken       int            // checkpoints so far
	used        time.Time      // when the last step ended
	resting     time.Time      // none is taken by itself before
	obstacle    *ObstacleError // why there was no checkpoint at the last try, or nil
	never       string         // why there will be none of this image, or ""
	noCalls     int            // copies in a row that did not call
	stepped     chan struct{}  // holds one value when a step was made; for keepTime
	added       chan struct{}  // holds one value when a checkpoint was taken; for keepTime
}

// maxSteps is how many steps are kept by name.
const maxSteps = 1000

type step struct {
	session string
	title   string // its beginning, one line
	ended   time.Time
}

// A checkpoint is a copy of an image as it was after a step.
type checkpoint struct {
	number int
	name   string // "" of one that was taken by itself
	at     int    // number of the step
	after  string // its title
	aside  bool   // after an undo other steps were made than those that led to it
	taken  time.Time
	pause  time.Duration // for which the image did not answer
	deaths int           // of images that went on from it, soon and before anybody used them
	copy   frozen
	kept.Work
	project *project.Project
	info    *swank.ConnectionInfo
	resumed bool // as of an instance
}

// frozen is what a timeline has of a [launch.Copy].
type frozen interface {
	Start(ctx context.Context) (*launch.Process, error)
	Drop()
	Alive() bool
	PID() int
}

// step notes that a job of the session has ended that may have changed the image, and returns
// the titles of the steps that could be redone until then.
func (t *timeline) step(session, title string) (lost []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lost = t.stepLocked(session, title)
	select {
	case t.stepped <- struct{}{}:
	default:
	}
	return lost
}

// stepLocked is step. t.mu is held.
func (t *timeline) stepLocked(session, title string) (lost []string) {
	lost = t.lostLocked()
	t.forgetAfter(t.at)
	t.at++
	t.used = time.Now()
	if len(t.steps) == 0 {
		t.first = t.at
	}
	t.steps = append(t.steps, step{session, firstLine(title, 80), t.used})
	if excess := len(t.steps) - maxSteps; excess > 0 {
		t.steps = slices.Delete(t.steps, 0, excess)
		t.first += excess
	}
	return lost
}

// lostLocked returns the titles of the steps that nothing leads to any more when another step is
// made now: checkpoints with names stay. t.mu is held.
func (t *timeline) lostLocked() []string {
	ahead, kept := t.at, t.at
	for _, c := range t.usable() {
		if !c.aside {
			ahead = max(ahead, c.at)
			if c.name != "" {
				kept = max(kept, c.at)
			}
		}
	}
	return t.betweenLocked(kept, ahead)
}

// forgetAfter drops what comes after a step: it is not to be redone any more. Checkpoints
// with names stay, aside. t.mu is held.
func (t *timeline) forgetAfter(at int) {
	if n := at - t.first + 1; n < len(t.steps) {
		t.steps = t.steps[:max(n, 0)]
	}
	t.drop(func(c *checkpoint) bool { return c.at > at && c.name == "" })
	for _, c := range t.checkpoints {
		c.aside = c.aside || c.at > at
	}
}

// drop ends the checkpoints of which out says so. t.mu is held.
func (t *timeline) drop(out func(*checkpoint) bool) {
	t.checkpoints = slices.DeleteFunc(t.checkpoints, func(c *checkpoint) bool {
		if !out(c) {
			return false
		}
		c.copy.Drop()
		return true
	})
}

// add adds a checkpoint that was taken now, and drops those that it makes superfluous.
func (t *timeline) add(c *checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken++
	c.number, c.at = t.taken, t.at
	if n := t.at - t.first; n >= 0 && n < len(t.steps) {
		c.after = t.steps[n].title
	}
	t.checkpoints = append(t.checkpoints, c)
	t.obstacle, t.noCalls = nil, 0
	select {
	case t.added <- struct{}{}:
	default:
	}
	out := superfluous(t.checkpoints, c.taken)
	t.drop(func(c *checkpoint) bool { return slices.Contains(out, c) })
}

// usable returns the checkpoints that still wait, oldest step first.
func (t *timeline) usable() []*checkpoint {
	t.checkpoints = slices.DeleteFunc(t.checkpoints, func(c *checkpoint) bool { return !c.copy.Alive() })
	list := slices.Clone(t.checkpoints)
	slices.SortStableFunc(list, func(a, b *checkpoint) int { return cmp.Compare(a.at, b.at) })
	return list
}

// before returns the newest checkpoint of what the image was after that step or an
// earlier one, or nil.
func (t *timeline) before(at int) *checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range slices.Backward(t.usable()) {
		if c.at <= at && !c.aside {
			return c
		}
	}
	return nil
}

// after returns the oldest checkpoint of what the image was after that step or a later
// one, or nil.
func (t *timeline) after(at int) *checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.usable() {
		if c.at >= at && !c.aside {
			return c
		}
	}
	return nil
}

// named returns the checkpoint of that name or number, or nil.
func (t *timeline) named(name string) *checkpoint {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.usable() {
		if c.name == name || strconv.Itoa(c.number) == name {
			return c
		}
	}
	return nil
}

// hinder notes why there is no checkpoint now.
func (t *timeline) hinder(why *ObstacleError) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case why.Never: // noCall has noted it, or nobody wants any
	case why.Passing && len(why.Threads) == 0:
		t.obstacle = nil
	default:
		t.obstacle = why
	}
}

// mostNoCalls is how many copies in a row may not call until no more are made.
const mostNoCalls = 3

// noCall notes that a copy was made and did not call, as err says, and returns what is in
// the way of checkpoints. One may be late; if none comes, no checkpoint is taken any more.
func (t *timeline) noCall(err error) *ObstacleError {
	t.mu.Lock()
	defer t.mu.Unlock()
	obstacle := &ObstacleError{Why: err.Error()}
	if t.noCalls++; t.noCalls >= mostNoCalls {
		obstacle.Never = true
		t.never, t.obstacle = obstacle.Why, obstacle
	}
	return obstacle
}

// forbidden returns why no checkpoint is taken any more, or "".
func (t *timeline) forbidden() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.never
}

// later puts off the next checkpoint.
func (t *timeline) later() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.used = time.Now()
}

// rest has no checkpoint taken by itself for so long.
func (t *timeline) rest(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resting = time.Now().Add(d)
}

// session returns the name of the session that has made the last step.
func (t *timeline) session() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := t.at - t.first; t.at > 0 && n >= 0 && n < len(t.steps) {
		return t.steps[n].session
	}
	return defaultSession
}

// now returns the number of the step after which the image is.
func (t *timeline) now() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.at
}

// between returns the titles of the steps after one up to another.
func (t *timeline) between(after, upTo int) (titles []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.betweenLocked(after, upTo)
}

// betweenLocked is between. t.mu is held.
func (t *timeline) betweenLocked(after, upTo int) (titles []string) {
	for n := max(after+1, t.first); n <= upTo && n-t.first < len(t.steps); n++ {
		titles = append(titles, t.steps[n-t.first].title)
	}
	return titles
}

// lastUsed returns when something was done last, or the zero time.
func (t *timeline) lastUsed() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.used
}

// goTo says that the image is now as it was at c. If c is aside, that is a step of the
// session.
func (t *timeline) goTo(c *checkpoint, session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.aside {
		t.stepLocked(session, "undo to "+c.name)
		c.at, c.aside = t.at, false
	}
	t.at = c.at
}

// due returns how long to wait until a checkpoint is to be taken by itself, and false
// if there is nothing new to keep.
func (t *timeline) due() (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.at == 0 || t.never != "" || slices.ContainsFunc(t.checkpoints, func(c *checkpoint) bool { return c.at == t.at && !c.aside }) {
		return 0, false
	}
	return max(time.Until(t.used.Add(idleTime)), time.Until(t.resting)), true
}

// brokeDown notes that an image that went on from c ended by itself, and drops c if that is
// its way.
func (t *timeline) brokeDown(c *checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c.deaths++; c.deaths >= 3 {
		t.drop(func(other *checkpoint) bool { return other == c })
	}
}

// any reports whether there is a checkpoint to go on from.
func (t *timeline) any() bool { return t.before(t.now()) != nil }

// clear forgets everything: the image is a new one.
func (t *timeline) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(func(*checkpoint) bool { return true })
	t.steps, t.first, t.at, t.never, t.obstacle, t.noCalls = nil, 1, 0, "", nil, 0
}

// newestCheckpoints is how many checkpoints that were taken by themselves are kept
// whatever their age.
const newestCheckpoints = 8

// mostCheckpoints is how many of them are kept in all: each is a process, and not every
// system tells how much memory they take.
const mostCheckpoints = 50

// superfluous returns those of the checkpoints, given oldest first, that are in the way
// now: all but the named, the newest eight, and of the older ones the last of each minute
// of the clock for ten minutes, and of each ten minutes before, as long as there are not
// too many.
func superfluous(list []*checkpoint, now time.Time) (out []*checkpoint) {
	kept := 0
	var last time.Time
	for _, c := range slices.Backward(list) {
		if c.name != "" {
			continue
		}
		if kept++; kept <= newestCheckpoints {
			continue
		}
		interval := time.Minute
		if now.Sub(c.taken) > 10*time.Minute {
			interval = 10 * time.Minute
		}
		slot := c.taken.Truncate(interval)
		if slot.Equal(last) || kept > mostCheckpoints {
			out = append(out, c)
			kept--
		}
		last = slot
	}
	return out
}

// thin drops the oldest checkpoints without a name until all take no more memory than
// limit.
func (t *timeline) thin(limit int64, image int) {
	for {
		t.mu.Lock()
		list := slices.Clone(t.checkpoints)
		t.mu.Unlock()
		oldest := slices.IndexFunc(list, func(c *checkpoint) bool { return c.name == "" })
		if oldest < 0 || oldest == len(list)-1 || memoryOf(list, image) <= limit {
			return
		}
		t.dropOne(list[oldest])
	}
}

func (t *timeline) dropOne(c *checkpoint) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(func(other *checkpoint) bool { return other == c })
}

// memoryOf is how many bytes of memory the checkpoints take beside the image that they
// were taken of.
func memoryOf(list []*checkpoint, image int) int64 {
	copies := make([]frozen, len(list))
	for i, c := range list {
		copies[i] = c.copy
	}
	return launch.Memory(copies, image)
}
