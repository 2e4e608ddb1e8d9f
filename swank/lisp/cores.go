package lisp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"swank-mcp/swank/lisp/launch"
)

// cores are the cores that an image has built in the background, one at a time.
type cores struct {
	turn sync.Mutex     // held while one is built
	work sync.WaitGroup // what is done for later starts of images

	mu   sync.Mutex
	gone map[string]bool // what could not be built
}

// useText names use among those of all projects.
func (im *Image) useText(ctx context.Context, use freshUse) string {
	return strings.Join(append(slices.Clone(im.Project(ctx).Dirs), fmt.Sprint(use.Tests), strings.Join(use.Systems, " ")), "\n")
}

// wantCore sees to it, in the background, that there is a core with what use needs, if
// use is about a system of the project.
func (s *Session) wantCore(use freshUse) {
	im := s.im
	if !im.cfg.Attach.IsZero() || im.cfg.once || im.cfg.Launch.NoCore {
		return
	}
	project := im.Project(im.ctx)
	if !slices.Contains(project.Systems(), primaryName(use.Systems[0])) {
		return
	}
	im.inBackground(func() {
		text := im.useText(im.ctx, use)
		if launch.ProjectCore(im.ctx, im.cfg.Launch, launchCode(), text) != "" {
			return
		}
		var p *launch.Process
		var needs []launch.Need
		// In turn: nothing else asks ASDF meanwhile.
		err := s.aside(im.ctx, "project core", startPatience, func() error {
			inst, err := im.running(im.ctx)
			if err != nil || inst == nil {
				return err
			}
			p, _ = inst.proc.(*launch.Process)
			n, err := inst.needs(im.ctx, use, im.ownSystems(im.ctx, use.Systems))
			needs = n.Needs
			return err
		})
		if err != nil {
			if im.ctx.Err() == nil {
				im.log.Warn("asking what the project needs", "err", err)
			}
			return
		}
		if p != nil {
			im.buildCoreFor(p, text, needs)
		}
	})
}

// inBackground does work for later runs, which ends with the image, unless that is closed.
func (im *Image) inBackground(work func()) bool {
	im.cores.work.Add(1)
	begun := im.untilClosed(func() {
		defer im.cores.work.Done()
		work()
	})
	if !begun {
		im.cores.work.Done()
	}
	return begun
}

// untilClosed does work beside the caller's, unless the image is closed, which waits for it.
func (im *Image) untilClosed(work func()) bool {
	im.mu.Lock()
	defer im.mu.Unlock()
	if im.closed {
		return false
	}
	im.work.Go(work)
	return true
}

// buildCoreFor builds a core with needs for the use of that text, where there are none
// the one that has only what each image has.
func (im *Image) buildCoreFor(p *launch.Process, use string, needs []launch.Need) {
	im.cores.turn.Lock()
	defer im.cores.turn.Unlock()
	key := fmt.Sprint(use, needs)
	im.cores.mu.Lock()
	gone := im.cores.gone[key]
	im.cores.mu.Unlock()
	if gone {
		return
	}
	err := p.BuildProjectCore(im.ctx, use, needs)
	if err == nil && len(needs) == 0 && p.WantsCore() {
		err = p.BuildCore(im.ctx)
	}
	if err == nil || im.ctx.Err() != nil || errors.Is(err, launch.ErrChanging) { // the next load asks again
		return
	}
	im.log.Warn("saving a core of the project", "err", err)
	im.cores.mu.Lock()
	defer im.cores.mu.Unlock()
	if im.cores.gone == nil {
		im.cores.gone = map[string]bool{}
	}
	im.cores.gone[key] = true
}

// CoresBuilt returns when nothing is being done for later starts of images, such as building
// the cached core or a core of the project, or when ctx ends.
func (im *Image) CoresBuilt(ctx context.Context) {
	built := make(chan struct{})
	go func() { // ends when the image is closed at the latest
		im.cores.work.Wait()
		close(built)
	}()
	select {
	case <-built:
	case <-ctx.Done():
	}
}
