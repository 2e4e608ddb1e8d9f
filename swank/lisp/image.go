package lisp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"swank-mcp/internal/files"
	"swank-mcp/swank"
	"swank-mcp/swank/lisp/attach"
	"swank-mcp/swank/lisp/launch"
)

// ErrClosed is the answer of an [Image] that has been closed.
var ErrClosed = errors.New("lisp: the image has been closed")

// Image is one Common Lisp image and the sessions in it. It starts at the
// first evaluation, and again after it has died. Its methods may be called
// from any goroutine.
//
// Goroutines: one for each start, one that watches each running image for its end, one
// that builds the core, one that takes checkpoints of the images that are launched, one that looks for an attached
// image that was lost. All are owned by the Image and ended by Close; the copies that
// checkpoints are have goroutines in package launch, which their line ends. An evaluation
// runs on its caller's goroutine, as an undo and a trial do. A job of a session shares
// working, and who takes a checkpoint or goes back to one holds it alone.
type Image struct {
	cfg   Config
	log   *slog.Logger
	token atomic.Int64 // of the last evaluation
	jobs  atomic.Int64 // number of the last job

	events    events
	workplace workplace
	timeline  timeline
	disk      disk
	attaching attach.Progress // of the last attempt to attach
	noFiles   atomic.Bool     // images write none
	working   workLock        // shared: a job of a session runs
	judging   chan struct{}   // full while a fresh image is asked about the project

	owner Owner // nil: it has none

	ctx    context.Context // ends with Close
	cancel context.CancelCauseFunc
	work   sync.WaitGroup // our goroutines

	mu       sync.Mutex
	cur      *instance       // nil: none runs
	start    *start          // a start under way, or nil
	starts   int             // images started so far
	lastEnd  string          // how the previous image ended
	lastLisp attach.Lisp     // the image that we were attached to last
	line     *launch.Process // the last image that we started
	building bool            // a core is being built, or has been
	cores    cores
	coreErr  error // why there is no cached core
	closed   bool
	held     bool    // an image that dies is not replaced by itself
	shown    []shown // by people, the newest
	showns   int     // how many things have been shown
	paused   bool    // by a person: calls that begin wait
	pauses   int     // how many messages of an image have said so, or the contrary
	unheard  bool    // the image that we attach to next is to be told that
	policy   Policy  // of what needs a person's yes; "" is not known
	policies int     // how many messages of an image have said which
	untold   bool    // the image that we attach to next is to be told
	asked    []asked // what people have been asked, the newest
	askeds   int     // how much that was
	sessions map[string]*Session
	calls    map[*evaluation]*ears // what is in flight, from before it is sent
	others   []*Image              // that were started for one call each
	beside   time.Duration         // what those that have ended have used of the processor
	counted  bool                  // that is one of them, whose beside has it; its mu guards that
}

// A start is an attempt to start an image that any number of callers wait for.
type start struct {
	done chan struct{}
	inst *instance
	err  error
}

// New returns an image that is not started yet: it has no side effects.
func New(c Config) *Image {
	if c.SuspendLimit == 0 {
		c.SuspendLimit = DefaultSuspendLimit
	}
	if c.Trees == nil {
		c.Trees = &files.Trees{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if !c.Attach.IsZero() || c.once || c.NoRecovery || !launch.CanCopy {
		c.NoCheckpoints = true
	}
	im := &Image{
		cfg: c, log: c.Log, judging: make(chan struct{}, 1),
		sessions: map[string]*Session{},
		calls:    map[*evaluation]*ears{},
	}
	im.cfg.told, im.cfg.progress = im.told, &im.attaching
	if c.parent != nil {
		im.policy = c.parent.Policy()
	}
	im.timeline.stepped, im.timeline.added = make(chan struct{}, 1), make(chan struct{}, 1)
	im.disk.cores = c.Cores
	if !c.Attach.IsZero() || c.Resume != "" {
		im.token.Store(rand.Int64N(1<<40) << 20) // other bridges have, or had, tokens in the same image
	}
	im.ctx, im.cancel = context.WithCancelCause(context.Background())
	return im
}

// startPatience is how long a call waits at least for an attached Lisp, which may be
// busy. The call's own time limit, which is meant for its code, may be shorter.
const startPatience = 30 * time.Second

// tooLate returns a channel on which a call hears that it has waited long enough for a start,
// whose limit is limit. The start of an image of our own ends by itself, and says what went
// wrong.
func (im *Image) tooLate(limit time.Duration) <-chan time.Time {
	switch {
	case im.cfg.Attach.IsZero():
		return nil
	case !im.lastGuest().Stopped(): // else its owner has to do something first
		limit = max(limit, startPatience)
	}
	return time.After(limit)
}

// acquire returns the running image, starting one if there is none. It waits for that as long
// as ctx says, and until tooLate has passed without a word of the image: one that has been sent
// the helper tells of each part. A start goes on when its caller leaves: the next one will want it.
func (im *Image) acquire(ctx context.Context, limit time.Duration) (*instance, error) {
	im.mu.Lock()
	if im.closed {
		im.mu.Unlock()
		return nil, ErrClosed
	}
	if im.cur != nil && !im.cur.over() {
		defer im.mu.Unlock()
		return im.cur, nil
	}
	st := im.startLocked()
	im.mu.Unlock()
	for {
		heard := im.attaching.Heard()
		select {
		case <-st.done:
			return st.inst, st.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-im.tooLate(limit):
			if im.attaching.Heard() == heard {
				return nil, im.slowStart()
			}
		}
	}
}

// slowStart tells a caller that it has waited long enough for a person's Lisp.
func (im *Image) slowStart() error {
	unfinished := im.attaching.Unfinished(im.cfg.Attach)
	unfinished.Advice = "Nothing was evaluated. Send the call again; session-status tells when the image runs. " + unfinished.Advice
	return im.lastGuest().Explain(im.cfg.Attach, unfinished)
}

// startLocked returns the start that is under way, beginning one if needed.
func (im *Image) startLocked() *start {
	if im.start != nil {
		return im.start
	}
	st := &start{done: make(chan struct{})}
	im.start = st
	im.work.Go(func() {
		im.mu.Lock()
		pauses, policies := im.pauses, im.policies // a message of the image that comes meanwhile is newer than its state at the beginning
		im.mu.Unlock()
		st.inst, st.err = im.admitted()
		if st.err == nil && st.inst.origin == nil {
			im.tellOfProject(im.ctx, st.inst)
			im.echo(im.ctx, st.inst)
		} else if st.err != nil {
			st.err = withoutFiles(im.lastGuest().Explain(im.cfg.Attach, st.err))
		}
		if st.err != nil {
			im.log.Warn("starting Lisp", "err", st.err) // not under the lock: stderr may block
		}
		im.mu.Lock()
		im.start = nil
		if st.err == nil {
			started := Event{Kind: EventImageStarted, PID: st.inst.proc.PID()}
			if im.starts > 0 {
				started.Kind = EventImageReplaced
			}
			im.events.publish(started) // before anything of it
			im.starts++
			if p, ours := st.inst.proc.(*launch.Process); ours && im.noFiles.Load() {
				_ = p.WriteNothing(true) // who wants it tries again
			}
			im.cur = st.inst
			if g, ok := st.inst.proc.(*attach.Guest); ok {
				im.lastLisp = g.Lisp
				if im.pauses == pauses {
					im.holdPauseLocked(st.inst, g.Paused)
				}
				if !im.untold && im.policies == policies {
					im.policy = Policy(g.Policy)
				}
			}
			im.holdPolicyLocked(st.inst)
			im.work.Go(func() { im.watch(st.inst) })
			if im.starts == 1 && !im.cfg.NoCheckpoints {
				im.work.Go(im.keepTime)
				if im.cfg.Autosave {
					im.work.Go(func() { im.autosaves(autosaveIdle) })
				}
			}
			im.buildCoreLocked(st.inst)
		}
		im.mu.Unlock()
		close(st.done)
	})
	return st
}

// admitted starts an image when that may be.
func (im *Image) admitted() (*instance, error) {
	ended, err := im.admit()
	if err != nil {
		return nil, err
	}
	defer ended()
	return im.beginAgain(im.ctx)
}

// lastGuest returns what is known of the image that we were attached to last.
func (im *Image) lastGuest() attach.Lisp {
	im.mu.Lock()
	defer im.mu.Unlock()
	return im.lastLisp
}

// buildCoreLocked makes the cached core beside the first image that had to do
// without one.
func (im *Image) buildCoreLocked(inst *instance) {
	proc, launched := inst.proc.(*launch.Process)
	if im.building || im.closed || im.cfg.once || !launched || !proc.WantsCore() {
		return
	}
	im.building = true
	im.cores.work.Add(1)
	im.work.Go(func() {
		defer im.cores.work.Done()
		im.cores.turn.Lock()
		defer im.cores.turn.Unlock()
		if err := proc.BuildCore(im.ctx); err != nil && im.ctx.Err() == nil {
			im.log.Warn("saving a core", "err", err)
			im.mu.Lock()
			im.coreErr = err
			im.mu.Unlock()
		}
	})
}

// watch waits for the end of inst and cleans up after it. An image that ends after it was used
// is replaced at once, so that the next call finds it ready; one that we were attached to is
// looked for until it is back. What ends an unused image, its init file for one, would end its
// replacement: that is started at once only while there is a checkpoint to go on from.
func (im *Image) watch(inst *instance) {
	select {
	case <-inst.proc.Exited():
	case <-inst.conn.Done():
	case <-im.ctx.Done():
		inst.end()
		im.events.publish(Event{Kind: EventImageEnded, Text: "the bridge has closed it", PID: inst.proc.PID()})
		return
	}
	if inst.replaced() {
		return
	}
	epitaph := inst.epitaph()
	unused, outside := !inst.used.Load(), inst.endedFromOutside()
	if inst.origin != nil && unused && !outside {
		im.timeline.brokeDown(inst.origin)
	}
	if im.timeline.any() {
		inst.leave()
	} else {
		inst.end()
	}
	im.log.Warn("Lisp ended", "how", epitaph)
	im.events.publish(Event{Kind: EventImageEnded, Text: epitaph, PID: inst.proc.PID()})
	im.mu.Lock()
	defer im.mu.Unlock()
	im.lastEnd = epitaph
	if im.cur != inst {
		return // a call has seen the end first and had the image replaced
	}
	im.cur = nil
	switch {
	case im.closed, im.cfg.once, im.held:
	case inst.attached():
		im.work.Go(im.rejoin)
	case inst.origin != nil && unused && outside: // what has killed it may do so again: the next call starts one
	case !unused || im.timeline.any():
		im.startLocked()
	}
}

// handle is called for each debugger, on the connection's reader: it must not block.
// A debugger that one of our evaluations is in was opened behind the helper's
// back; the evaluation's goroutine gets the news and leaves the debugger. The
// debuggers of others are left alone.
func (im *Image) handle(d *swank.Debug) {
	im.mu.Lock()
	defer im.mu.Unlock()
	for e, hears := range im.calls {
		if slices.Contains(d.Calls, e.call) {
			select {
			case hears.debug <- d:
			default: // it has the news already
			}
		}
	}
}

// ears is what an evaluation in flight hears of while it runs.
type ears struct {
	e     *evaluation
	debug chan *swank.Debug // of debuggers that its call is in
	stop  chan personStop   // that it is to end
	ended chan struct{}     // closed when it has
	since time.Time
}

// expect registers e, which wants to hear of debuggers and stops. It is called before e is
// sent: what runs in the image can be stopped.
func (im *Image) expect(e *evaluation) {
	e.hears = &ears{e: e, debug: make(chan *swank.Debug, 1), stop: make(chan personStop, 1), ended: make(chan struct{}), since: time.Now()}
	im.mu.Lock()
	im.calls[e] = e.hears
	im.mu.Unlock()
}

func (im *Image) forget(e *evaluation) {
	im.mu.Lock()
	defer im.mu.Unlock()
	if h := im.calls[e]; h != nil {
		close(h.ended)
		delete(im.calls, e)
	}
}

// Close ends the image, if one runs, and everything of ours. Calls in flight
// fail. It waits until all is gone, or until ctx ends.
func (im *Image) Close(ctx context.Context) error {
	im.mu.Lock()
	im.closed = true
	im.mu.Unlock()
	im.cancel(ErrClosed)
	im.mu.Lock()
	sessions := slices.Collect(maps.Values(im.sessions))
	im.mu.Unlock()
	im.setPaused(false) // what waits learns that the image is closed
	for _, s := range sessions {
		s.keep(ctx)
	}
	done := make(chan struct{})
	go func() {
		im.work.Wait()
		im.endLine()
		im.events.end()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
