package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// hasCore reports whether there is a core for these files, and marks it used, with its fasls.
func (f *imageFiles) hasCore() bool {
	info, err := os.Stat(f.corePath())
	if err != nil || info.Size() == 0 {
		return false
	}
	now := time.Now()
	_ = os.Chtimes(f.imageDir(), now, now)
	_ = os.Chtimes(f.faslDir(), now, now)
	return true
}

// WantsCore reports whether a core should be built for the next start.
func (p *Process) WantsCore() bool {
	return !p.image.noCore && !p.fromCore && p.image.cacheProblem == "" && !p.image.hasCore()
}

// BuildCore builds the core that the next start wants: an SBCL of its own, at
// low priority unless it is awaited, loads what p was loaded from and saves itself; the
// result is started once before it gets its name in the cache. Any number of servers may
// build at once; the last one's result stays. When ctx ends, nothing is left of it.
func (p *Process) BuildCore(ctx context.Context) error {
	f := p.image
	return f.buildCore(ctx, nil, func(work string) error {
		return os.Rename(filepath.Join(work, coreName), f.corePath())
	})
}

// buildCore saves a core that also has the systems needs, in a directory of its own, and
// calls keep with that.
func (f *imageFiles) buildCore(ctx context.Context, needs []Need, keep func(work string) error) error {
	fail := func(doing string, err error) error {
		var failure *launchError
		if free, ok := freeBytes(f.cacheDir); ok && free < coreSize {
			return fmt.Errorf("building a core: %s: %w (a core needs %d MiB, the disk of %s has %d MiB left)", doing, err, coreSize>>20, f.cacheDir, free>>20)
		}
		if errors.As(err, &failure) && failure.stderr != "" {
			return fmt.Errorf("building a core: %s: %w: %s", doing, err, lastLine(failure.stderr))
		}
		return fmt.Errorf("building a core: %s: %w", doing, err)
	}
	if free, ok := freeBytes(f.cacheDir); ok && free < coreSize {
		return fail("looking for room", syscall.ENOSPC)
	}
	work, err := os.MkdirTemp(f.cacheDir, "tmp-core-")
	if err != nil {
		return fail("making a directory", err)
	}
	defer os.RemoveAll(work)
	fresh := filepath.Join(work, coreName)
	plan := launchPlan{save: fresh, trusted: true}
	if len(needs) > 0 {
		plan.systems = filepath.Join(work, "systems")
		if err := os.WriteFile(plan.systems, []byte(systemsText(needs)), 0o600); err != nil {
			return fail("naming the systems", err)
		}
		if f.hasCore() {
			plan.core, plan.sealed = f.corePath(), true
		}
	}
	builder, err := f.launch(ctx, plan)
	if err != nil {
		return fail("saving it", err)
	}
	builder.Close(ctx)
	check, err := f.launch(ctx, launchPlan{core: fresh, trusted: true})
	if err != nil {
		return fail("starting it", err)
	}
	check.Close(ctx)
	if err := seal(fresh); err != nil {
		return fail("checking it", err)
	}
	if err := keep(work); err != nil {
		return fail("keeping it", err)
	}
	f.prune()
	return nil
}

// coreSize is roughly the size of a core, with room to spare.
const coreSize = 64 << 20

func lastLine(s string) string { return s[strings.LastIndexByte(s, '\n')+1:] }
