package lisp

import (
	"context"
	"slices"
	"sync"
	"time"

	"swank-mcp/swank/lisp/helper"
	"swank-mcp/swank/lisp/project"
)

// projectPatience is how long looking for the project's definitions, and telling the
// image of them, may take.
const projectPatience = time.Second

// workplace is the project that the sessions of an image work for.
type workplace struct {
	mu    sync.Mutex
	dirs  []string
	found *project.Project // what was found last; nil: nothing was looked for
}

// WorkIn names the directories, absolute paths, of the project that the sessions work
// for: its systems are found before installed ones of the same name. None is no project.
func (im *Image) WorkIn(dirs ...string) {
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	im.workplace.dirs, im.workplace.found = dirs, nil
}

// WorksIn returns the directories that [Image.WorkIn] has named.
func (im *Image) WorksIn() []string {
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	return slices.Clone(im.workplace.dirs)
}

// Project returns what was found of the project last, looking for it the first time.
func (im *Image) Project(ctx context.Context) *project.Project {
	im.workplace.mu.Lock()
	defer im.workplace.mu.Unlock()
	if im.workplace.found == nil {
		im.findLocked(ctx)
	}
	return im.workplace.found
}

// findLocked goes on when the caller leaves: the next one would take what was found by
// then for the whole.
func (im *Image) findLocked(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), projectPatience)
	defer cancel()
	im.workplace.found = project.Find(ctx, im.workplace.dirs...)
}

// lookAtProject looks for the project's definitions again, before a call that may name
// one that has been written since, and tells the running image if they are other ones. An
// image that starts is told then.
func (im *Image) lookAtProject(ctx context.Context) {
	im.workplace.mu.Lock()
	im.findLocked(ctx)
	im.workplace.mu.Unlock()
	im.mu.Lock()
	inst := im.cur
	im.mu.Unlock()
	if inst != nil {
		im.tellOfProject(ctx, inst)
	}
}

// tellOfProject tells inst where the project's systems are defined, if it does not know.
// An image that does not take it in time is told before the next such call.
func (im *Image) tellOfProject(ctx context.Context, inst *instance) {
	found := im.Project(ctx)
	known := inst.project.Load()
	if known == nil && len(found.Dirs) == 0 || known != nil && known.Equal(found) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, projectPatience)
	defer cancel()
	call := helper.NewCall("KNOW-PROJECT")
	call.Quote(len(found.Dirs), func(i int) { call.Str(found.Dirs[i]) }).Num(int64(len(found.Definitions)))
	for _, file := range found.Files() {
		call.Str(file)
	}
	if _, err := inst.ask(ctx, call); err != nil {
		im.log.Warn("telling the image of the project", "err", err)
		return
	}
	inst.project.Store(found)
}
