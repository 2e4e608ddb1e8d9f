package lisp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/journal"
	"swank-mcp/swank/lisp/kept"
	"swank-mcp/swank/lisp/launch"
)

// disk is what an image has to do with the checkpoints on the disk: those that it saves,
// and the one that it goes on from.
type disk struct {
	cores *kept.Cores
	turn  workLock // held alone: one is saved at a time

	mu     sync.Mutex
	saving map[string]*saving // by name
	said   []string           // how saving has ended, for the next reply
	saved  *checkpoint        // the last that was saved
	from   *kept.Core         // the one that the image goes on from, or nil
	why    string             // why it does not go on from the one it should, or ""
	tried  bool               // to go on from one
	last   *instance          // the last image that was started from it
	unused int                // images in a row that were and in which nothing was evaluated
}

// saving is the saving of a checkpoint to the disk that somebody has asked for.
type saving struct {
	since  time.Time
	cancel context.CancelFunc
	done   chan struct{} // closed when it has ended
}

// saveLimit is how long saving a checkpoint may take.
const saveLimit = 10 * time.Minute

// ErrNoDisk is the error of saving where no directory was given for that.
var ErrNoDisk = errors.New("lisp: there is no directory for checkpoints on the disk")

// SaveCheckpoint saves the checkpoint of that name or number as a core, for another server
// to go on from, in the background: the next reply tells how that has ended. It returns
// the path of the file. The error may be kept.ErrCoreExists or a *NoCheckpointError.
func (s *Session) SaveCheckpoint(name string) (file string, err error) {
	im, d := s.im, &s.im.disk
	if d.cores == nil {
		return "", ErrNoDisk
	}
	c := im.timeline.named(name)
	if c == nil {
		list, _ := s.Checkpoints()
		return "", &NoCheckpointError{Checkpoints: list, To: name}
	}
	if _, err := d.cores.Find(name); err == nil {
		return "", kept.ErrCoreExists
	}
	core, text := im.coreOf(c, name, s.name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, busy := d.saving[name]; busy {
		return "", kept.ErrCoreExists
	}
	if d.saving == nil {
		d.saving = map[string]*saving{}
	}
	ctx, cancel := context.WithTimeout(im.ctx, saveLimit)
	this := &saving{time.Now(), cancel, make(chan struct{})}
	d.saving[name] = this
	if !im.inBackground(func() {
		defer close(this.done)
		defer cancel()
		began := time.Now()
		err := im.save(ctx, c, core, text, false)
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.saving, name)
		if errors.Is(ctx.Err(), context.Canceled) && im.ctx.Err() == nil {
			return // it was dropped
		}
		if err != nil {
			d.said = append(d.said, fmt.Sprintf("Checkpoint %s was not saved to the disk: %v.", name, err))
			return
		}
		d.said = append(d.said, fmt.Sprintf("Checkpoint %s is on the disk: %d MB, saved in %.1f s.", name, core.Size>>20, time.Since(began).Seconds()))
	}) {
		cancel()
		delete(d.saving, name)
		return "", ErrClosed
	}
	return filepath.Join(kept.CoresDir, name+".core"), nil
}

// coreOf describes the core of c, which is about to be saved, and returns what its sessions had defined as Lisp
// source, that of the session first, if there is one, before the others.
func (im *Image) coreOf(c *checkpoint, name, first string) (core *kept.Core, source string) {
	core = &kept.Core{Name: name, Time: c.taken, Work: c.Work, After: c.after}
	if c.at == im.timeline.now() { // the image is so now, though after an undo another one may be later
		core.Saved = time.Now()
	}
	core.Summary = summary(slices.Collect(maps.Values(c.Sessions)))
	names := slices.Sorted(maps.Keys(c.Sessions))
	if i := slices.Index(names, first); i >= 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, first)
	}
	file := filepath.Join(kept.CoresDir, name+".lisp")
	for _, session := range names {
		if j := c.Sessions[session]; !j.Empty() || session == first {
			source += j.Source(file, c.taken) + "\n"
		}
	}
	return core, source
}

// summary counts what journals have: "57 definitions, 3 systems".
func summary(journals []*journal.Journal) string {
	definitions, systems := 0, 0
	for _, j := range journals {
		d, s := j.Counts()
		definitions, systems = definitions+d, systems+s
	}
	var parts []string
	if definitions > 0 {
		parts = append(parts, plural(definitions, "definition"))
	}
	if systems > 0 {
		parts = append(parts, plural(systems, "system"))
	}
	if len(parts) == 0 {
		return "no definitions"
	}
	return strings.Join(parts, ", ")
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// save saves the core of c. Urgent saving does not yield to other processes.
func (im *Image) save(ctx context.Context, c *checkpoint, core *kept.Core, source string, urgent bool) error {
	if err := im.disk.turn.lock(ctx); err != nil {
		return err
	}
	defer im.disk.turn.unlock()
	err := im.disk.cores.Save(ctx, core, source, func(file string, open kept.Opener) error {
		copied := c.copy.(*launch.Copy) // every one of an image
		made, err := copied.Made()
		if err != nil {
			return err
		}
		saved, err := copied.Save(ctx, file, open, urgent)
		if err != nil {
			return err
		}
		core.Size, core.Checksum, core.Later = saved.Size, kept.Checksum(saved.Checksum), saved.Later
		written, err := open()
		if err != nil {
			return err
		}
		defer written.Close()
		if made.Build, err = launch.BuildIn(written); err != nil {
			return err
		}
		core.Made, err = json.Marshal(made)
		return err
	})
	if err != nil {
		im.log.Warn("saving a checkpoint", "name", core.Name, "err", err)
		return err
	}
	im.disk.mu.Lock()
	im.disk.saved = c
	im.disk.mu.Unlock()
	return nil
}

// drop removes the checkpoint of that name from the disk, also while it is being saved, and
// reports whether there was one.
func (d *disk) drop(name string) bool {
	if d.cores == nil {
		return false
	}
	d.mu.Lock()
	this := d.saving[name]
	d.mu.Unlock()
	if this != nil {
		this.cancel()
		<-this.done
	}
	return d.cores.Drop(name) || this != nil
}

// say has the next reply say it.
func (d *disk) say(text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, text)
}

// busy reports whether a checkpoint is being saved that somebody has asked for.
func (d *disk) busy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.saving) > 0
}

// hear returns what there is to say since it was last asked.
func (d *disk) hear() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	said := d.said
	d.said = nil
	return said
}

// clock is a time, with its day if that is not today.
func clock(t time.Time) string {
	t = t.Local()
	if now := time.Now(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// goneOnFrom returns the core that the image goes on from, or nil.
func (d *disk) goneOnFrom() *kept.Core {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.from
}

// resumes reports whether the next image, of which there is no checkpoint in memory, is to
// go on from a core: the first one, and those after it, until some end by themselves.
func (im *Image) resumes() bool {
	d := &im.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case im.cfg.Resume == "" || d.tried && (d.from == nil || d.last == nil || im.cfg.NoRecovery):
		return false
	case d.last == nil || d.last.used.Load():
		d.unused = 0
	default:
		d.unused++
	}
	return d.unused < 3
}

// beginFromDisk starts the image that goes on from the core of [Config], or returns nil if
// it cannot: the next reply says why.
func (im *Image) beginFromDisk(ctx context.Context) (*instance, error) {
	core, inst, err := im.resume(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d := &im.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tried, d.last = true, inst
	switch {
	case err != nil:
		d.why = im.notResumed(core, err)
		im.log.Warn("going on from a checkpoint on the disk", "err", err)
	case inst != nil:
		d.from = core
		sessions := slices.Sorted(maps.Keys(core.Sessions))
		if len(sessions) == 0 || slices.Contains(sessions, defaultSession) {
			sessions = []string{defaultSession}
		}
		im.timeline.step(sessions[0], resumeTitle(core.Name))
	}
	return inst, nil
}

// resumeTitle is that of the step by which the image goes on from a core.
func resumeTitle(name string) string { return "--resume " + name }

func (im *Image) resume(ctx context.Context) (core *kept.Core, _ *instance, err error) {
	name, before := im.cfg.Resume, im.disk.goneOnFrom()
	if before != nil {
		name = before.Name
	}
	if name == kept.Last {
		list := im.disk.cores.List()
		if len(list) == 0 {
			return nil, nil, nil
		}
		core = list[0] // unless none is ours, the newest that is
		if i := slices.IndexFunc(list, func(c *kept.Core) bool { return c.Foreign() == nil }); i >= 0 {
			core = list[i]
		}
	} else if core, err = im.disk.cores.Find(name); err != nil {
		return nil, nil, err
	}
	if err := core.Foreign(); err != nil {
		return core, nil, err
	}
	if before != nil && before.Checksum != core.Checksum {
		return core, nil, errors.New("it was saved anew meanwhile")
	}
	var made launch.Made
	if err := json.Unmarshal(core.Made, &made); err != nil {
		return core, nil, errors.New("what it was made of is not said: it is damaged")
	}
	if err := launch.CheckMade(ctx, im.cfg.Launch, launchCode(), made); err != nil {
		return core, nil, err
	}
	p, err := launch.Resume(ctx, im.cfg.Launch, launchCode(), core.Path(), uint32(core.Checksum))
	if err != nil {
		return core, nil, err
	}
	inst := newInstance(p)
	inst.resumed = true
	if err := inst.enter(ctx, im.cfg, im.handle, helper.NewCall("RESUME-CORE")); err != nil {
		inst.end()
		return core, nil, err
	}
	return core, inst, nil
}

// notResumed tells why the image does not go on from a core, nil if it was not found, and
// what to do.
func (im *Image) notResumed(core *kept.Core, err error) string {
	text := fmt.Sprintf("The image is a new one: checkpoint %s cannot be gone on from", im.cfg.Resume)
	var failure *StartError
	switch {
	case core == nil && errors.Is(err, fs.ErrNotExist):
		text += ": there is none of that name in " + kept.CoresDir
		var names []string
		for _, c := range im.disk.cores.List() {
			names = append(names, c.Name)
		}
		if len(names) > 0 {
			text += ", which has " + strings.Join(names, ", ")
		}
		return text + "."
	case errors.As(err, &failure) && failure.Told != nil:
		err = failure.Told
	}
	text += ": " + strings.TrimSuffix(err.Error(), ".") + "."
	file := im.cfg.Resume
	if core != nil {
		file = core.Name
	}
	if errors.Is(err, kept.ErrForeign) {
		return text + fmt.Sprintf(" Read %s before you load it.", filepath.Join(kept.CoresDir, file+".lisp"))
	}
	return text + fmt.Sprintf(" Its definitions load: load-session {\"file\": %q}", filepath.Join(kept.CoresDir, file+".lisp"))
}

// takeUp makes what the session had defined in the core that the image goes on from its
// own, and brings back what of that the image has not. It returns what there is to say.
func (s *Session) takeUp(ctx context.Context, thread *sessionThread) (said []string, err error) {
	d := &s.im.disk
	d.mu.Lock()
	core, why := d.from, d.why
	d.mu.Unlock()
	if why != "" {
		said = append(said, why)
	}
	if core == nil {
		return said, nil
	}
	resumed := thread.inst.resumed
	j := core.Sessions[s.name]
	if j == nil {
		var others []string
		for name := range core.Sessions {
			others = append(others, "--session "+name)
		}
		slices.Sort(others)
		if resumed {
			said = append(said, fmt.Sprintf("The image is as it was at %s; this session was not in it. Take up another with %s.", clock(core.Time), strings.Join(others, " or ")))
		}
		return said, nil
	}
	if s.recovery == nil { // else it has cost an image, and what is known is of these entries
		s.journal = *j.Clone()
	}
	text, back := fmt.Sprintf("Your work from %s is back: %s.", clock(core.Time), summary([]*journal.Journal{j})), ""
	if resumed {
		back, _, err = s.again(ctx, thread, core.In(s.name))
	} else { // the image that went on from it has died, and it cannot be gone on from again
		text = fmt.Sprintf("Of your work from %s the definitions are evaluated again.", clock(core.Time))
		s.journal.NewImage()
		back, err = s.restore(ctx, thread, s.journal.Restored)
		back = " " + back
	}
	if err != nil {
		return nil, err
	}
	s.recovery = nil
	s.kept.Load().Compare(s.journal.Without)
	said = append(said, text+back)
	if resumed {
		said = append(said, thread.inst.join(ctx, s.name)...)
	}
	return said, nil
}
